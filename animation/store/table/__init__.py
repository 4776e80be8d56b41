# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of an action: rows of keys, choices of tracks, what was last written."""
