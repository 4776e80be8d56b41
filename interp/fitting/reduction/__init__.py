# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest keys with which dense samples of a motion are played within a tolerance."""

from .tracks import Part, Reduced, reduce_tracks

__all__ = ["Part", "Reduced", "reduce_tracks"]
