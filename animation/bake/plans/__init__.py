# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans: what a bake evaluates of a track, and the keys that come of it, an output a file."""
