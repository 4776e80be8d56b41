# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduction of dense curves to the fewest keys."""
