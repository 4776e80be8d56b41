# SPDX-License-Identifier: GPL-3.0-or-later
"""The points of objects and bones whose paths are shown, and the tracks that move these points."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.channels import channels_of
from ..records import record
from ..sampling.transforms import Matrices
from ..store.find_tracks import tracks_shown
from ..store.paths import bone_path
from ..store.tracks import Track

LOCATIONS = ("location", "delta_location")
_AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "-X": (-1, 0, 0), "-Y": (0, -1, 0), "-Z": (0, 0, -1)}

Vector = npt.NDArray[np.float64]
"""A vector, shape (3,)."""


@record()
class Followed:
    """The point on an object or bone whose path is shown."""

    point: str
    """ORIGIN: an object's origin or a bone's head. TAIL: a bone's tail. AXIS: the tip of a local axis."""
    axis: str
    length: float
    """The length of the axis, in world units."""

    def turns(self, bone: str) -> bool:
        """Return whether the point moves if the object, or the named bone, rotates about its origin."""
        return self.point == "AXIS" or (bool(bone) and self.point == "TAIL")

    def arm(self, tail: float) -> Vector:
        """Return the local vector from the origin to the point, or the direction of an axis."""
        return np.array(_AXES[self.axis] if self.point == "AXIS" else (0.0, tail, 0.0), dtype=np.float64)

    def at(self, matrices: Matrices, tail: float) -> npt.NDArray[np.float64]:
        """Return the points for these world matrices, shape (frames, 3). `tail` is the length of the bone, or 0."""
        origin: npt.NDArray[np.float64] = matrices[:, :3, 3]
        if self.point == "TAIL" and tail:
            return origin + tail * matrices[:, :3, 1]
        if self.point != "AXIS":
            return origin
        axis = matrices[:, :3, :3] @ self.arm(tail)
        size = np.linalg.norm(axis, axis=1, keepdims=True)
        return origin + self.length * axis / np.where(size > 0.0, size, 1.0)


class Spot(NamedTuple):
    """The key of a path at a frame."""

    scene: bpy.types.Scene
    item: Any
    bone: str
    """The name of the bone with the path. Empty for a path of the object itself."""
    followed: Followed
    frame: float
    """The frame of the scene."""
    defaults: tuple[tuple[str, float], ...] = ()
    """Names and values of the parameters of keys that have none of their own, on tracks that are off."""

    @property
    def prefix(self) -> str:
        """Return the path prefix of the tracks."""
        return f"{bone_path(self.item.pose.bones[self.bone])}." if self.bone else ""

    @property
    def owner(self) -> Any:
        """Return the object or the bone."""
        return self.item.pose.bones[self.bone] if self.bone else self.item

    @property
    def tail(self) -> float:
        """Return the length of the bone, or 0 for an object."""
        return float(self.item.data.bones[self.bone].length) if self.bone else 0.0

    @property
    def name(self) -> str:
        """Return the name of the object or bone as shown to users."""
        return self.bone or str(self.item.name)


def moving_tracks(item: Any, bone: str, followed: Followed) -> list[Track]:
    """Return the tracks of the object or bone itself that move the point, locations before rotations.

    Raises AnimationError if the animation can't be read.
    """
    prefix = bone_path(item.pose.bones[bone]) if bone else ""
    turns = followed.turns(bone)
    tracks = [track for track in tracks_shown(item, channels_of(item), prefix) if track.in_use]
    places = [track for track in tracks if track.path.removeprefix(f"{prefix}.") in LOCATIONS]
    return places + [track for track in tracks if turns and track.is_rotation and _is_transform(track, prefix)]


def _is_transform(track: Track, prefix: str) -> bool:
    return track.path.removeprefix(f"{prefix}.").removeprefix("delta_").startswith("rotation")
