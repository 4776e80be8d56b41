# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans define the evaluations that a bake needs for a track, and compose the track's keys.

Each output has its own module.
"""
