# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest keys with which dense samples of a motion are played within a tolerance."""

from .skeleton import Joint, Skeleton, reduce_skeleton
from .straight import Straight, find_straight
from .tracks import Part, Reduced, reduce_tracks

__all__ = ["Joint", "Part", "Reduced", "Skeleton", "Straight", "find_straight", "reduce_skeleton", "reduce_tracks"]
