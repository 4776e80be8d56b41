# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeping what stands up to date."""
