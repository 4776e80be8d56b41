# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks whose key values may change, evaluated through their splines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ..bake.plans.track_splines import TrackSpline, track_splines
from ..edit.track_keys import TrackKeys
from ..errors import AnimationError
from ..fcurves.frames import is_among
from ..fcurves.linked_data import check_editable
from ..sampling.properties import Values
from ..store.frame_functions import function_of
from ..store.own_arrays import OwnKeys
from ..store.own_keys import read_own_keys
from ..store.paths import bone_path
from ..store.track_refusals import blocking_reason


class Mover:
    """A track that is evaluated through its spline. Any number of its keys may change.

    Attributes
    ----------
    keys : TrackKeys
        The keys that may change.
    datablock : bpy.types.ID
    track : Track
    bone : str
        The name of the bone that the track moves, or an empty string for the object.
    sampler_key : (int, str)
        The dictionary key for the track's motion in `TransformSampler`.
    function : callable or None
        The function from scene frames to the frames of the spline.
    variables : list of (int, int)
        The component and row of each key value that may change.
    start : ndarray, shape (variables,)
        These key values before the relaxation.
    """

    def __init__(self, keys: TrackKeys, defaults: Mapping[str, float]) -> None:
        check_editable(keys.datablock)
        self.keys, self.track = keys, keys.track
        self.datablock: bpy.types.ID = keys.datablock
        track = keys.track
        reason = blocking_reason(track)
        if reason:
            raise AnimationError(reason)
        if not track.enabled:
            raise track.error("NOT_TCB")
        owner, _, name = track.path.rpartition(".")
        if name != "location" and not (track.is_rotation and name.startswith("rotation")):
            raise track.error("RELAX_ONLY_TRANSFORMS")
        prefix = f"{owner}." if owner else ""
        self.sampler_key = keys.datablock.session_uid, prefix + ("rotation" if track.is_rotation else name)
        self.bone = _bone_of(keys.datablock, prefix)
        self.function = function_of(track)
        self._settings = track.settings
        options = self._settings.options
        self._defaults = options.defaults if track.is_played and options else defaults
        # In float64, so that the difference quotients of the errors keep their digits.
        self._own_keys = {
            index: own_keys.with_(keys=own_keys.keys.with_(co=own_keys.keys.co.astype(np.float64)))
            for index, own_keys in sorted(read_own_keys(track).items())
        }
        frames = [own_keys.keys.frames for own_keys in self._own_keys.values()]
        if track.is_rotation and len(keys) and not all(np.array_equal(other, frames[0]) for other in frames):
            raise track.error("KEYED_APART")
        self.variables = [
            (index, row)
            for index, own_keys in self._own_keys.items()
            for row in np.flatnonzero(is_among(own_keys.keys.frames, keys.frames)).tolist()
        ]
        self.start = np.array([self._own_keys[index].keys.values[row] for index, row in self.variables])

    def splines(self, numbers: Values) -> list[TrackSpline]:
        """Return the track's splines with these values in the variable keys."""
        changed_keys: dict[int, OwnKeys] = {}
        for index, own_keys in self._own_keys.items():
            offset = np.zeros_like(own_keys.keys.co)
            for number, (component, row) in zip(numbers, self.variables, strict=True):
                if component == index:
                    offset[row, 1] = number - own_keys.keys.values[row]
            # The handles move with their keys.
            points = {name: getattr(own_keys.keys, name) + offset for name in ("co", "handle_left", "handle_right")}
            changed_keys[index] = own_keys.with_(keys=own_keys.keys.with_(**points))
        return track_splines(self.track, self._settings, changed_keys, self._defaults)

    def motion(self, splines: Sequence[TrackSpline], values: Sequence[Values], count: int) -> Values:
        """Return the locations or quaternions for spline values at `count` frames."""
        if self.track.is_rotation:
            return values[0]
        without_keys = [self.track.component(index) for index in range(len(self.track.rest))]
        locations = np.tile(np.array(without_keys, dtype=np.float64), (count, 1))
        for spline, spline_values in zip(splines, values, strict=True):
            locations[:, spline.components] = spline_values
        return locations

    def key_rotations(self, numbers: Values) -> Values:
        """Return the variable keys of a rotation as channel values, shape (keys, components)."""
        (spline,) = self.splines(numbers)
        return spline.values[is_among(spline.frames, self.keys.frames)]


def _bone_of(datablock: Any, prefix: str) -> str:
    """Return the name of the bone whose paths have this prefix, or an empty string."""
    if not prefix:
        return ""
    bones = datablock.pose.bones if datablock.pose else ()
    return next((bone.name for bone in bones if f"{bone_path(bone)}." == prefix), "")


def split(movers: Sequence[Mover], numbers: Values) -> list[Values]:
    """Return the key values of each mover."""
    return np.split(numbers, np.cumsum([len(mover.variables) for mover in movers])[:-1])
