# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of tracks: enable, restore, remove, set parameters, make keys, retime."""
