# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a motion: conditions, joints and smoothness."""
