# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of an action: rows of keys, settings of tracks, and what the last update wrote."""
