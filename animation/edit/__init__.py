# SPDX-License-Identifier: GPL-3.0-or-later
"""The edits that scripts and the interface make: of tracks, keys, parameters, timing, rotations and tables."""
