# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce dense curves to the fewest keys."""
