# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans define the evaluations that a bake needs for a track, and compose its keys. One module per output."""
