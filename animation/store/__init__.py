# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks, the animator's keys on them, and where their TCB data are stored: in the keys and in the action's table."""
