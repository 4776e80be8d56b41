# SPDX-License-Identifier: GPL-3.0-or-later
"""The point of a path that can be dragged, by its location or its rotation."""

from __future__ import annotations

from ..errors import AnimationError, Finding
from .dragged_location import DraggedLocation
from .dragged_tip import DraggedTip
from .keyed_track import KeyedTrack
from .points import LOCATIONS, Spot, moving_tracks


def movable_point(spot: Spot) -> DraggedLocation | DraggedTip:
    """Return the point as an object that can be moved. Raise AnimationError if the point's key can't be changed.

    A location with a key at the frame takes precedence over a rotation.
    """
    errors = []
    for track in moving_tracks(spot.item, spot.bone, spot.followed):
        if track.path.removeprefix(spot.prefix) in LOCATIONS and _is_connected(spot):
            continue
        try:
            keyed = KeyedTrack(spot.item, track, spot.frame)
            return DraggedTip(spot, keyed) if track.is_rotation else DraggedLocation(spot, keyed)
        except AnimationError as error:
            errors.append(error)
    if errors:
        # A locked channel is a more helpful reason than another track's missing key.
        raise errors[0]
    raise AnimationError(Finding("POINT_WITHOUT_KEY", spot.name, frame=spot.frame))


def _is_connected(spot: Spot) -> bool:
    """Return whether the spot is a connected bone, whose location Blender ignores."""
    return bool(spot.bone and spot.owner.bone.use_connect and spot.owner.parent is not None)
