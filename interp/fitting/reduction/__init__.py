# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest keys with which dense samples of a motion are played within a tolerance."""

from .skeleton import Joint, Skeleton, reduce_skeleton
from .tracks import Part, Reduced, reduce_tracks

__all__ = ["Joint", "Part", "Reduced", "Skeleton", "reduce_skeleton", "reduce_tracks"]
