# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a motion, and the states, keys and effective parameters that the tab shows."""
