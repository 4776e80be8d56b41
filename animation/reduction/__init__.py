# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce: from dense curves to the fewest keys."""
