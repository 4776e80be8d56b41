# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans: what a bake evaluates for a track and the keys it composes from that; one file for each output."""
