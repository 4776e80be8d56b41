# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole actions: the switch of Live, and the upkeep of tables."""
