# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs of the command."""
