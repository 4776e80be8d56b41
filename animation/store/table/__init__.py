# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of an action: key rows, track settings, and data from the last update."""
