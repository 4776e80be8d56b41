# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verbs of the command."""
