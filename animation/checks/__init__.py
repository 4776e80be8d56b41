# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a motion: conditions, joints and smoothness."""
