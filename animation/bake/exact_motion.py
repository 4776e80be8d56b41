# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample the exact motion of objects and bones, including tracks whose F-curves do not play it.

The splines of these tracks replace their F-curves, as in a bake. All other tracks need no splines.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...interp import KeysError, evaluate_many, rotations
from ...interp.base_spline import Spline
from ..fcurves.keyframes import BoolArray, Float64Array
from ..live.meaning_of_edits import may_imply, with_implied
from ..report import AnimationError
from ..sampling.fingerprints import Fingerprint, Fingerprints, is_inexact
from ..sampling.transforms import FCurves, Frames, Matrices, TransformSampler
from ..store.frame_functions import FrameFunction, function_of
from ..store.read_own_keys import read_own_keys
from ..store.tracks import Track, rotation_property
from .plans.own_motion import OwnChannels, is_keyed_whole
from .plans.rotations import unwrapped
from .plans.track_splines import TrackSpline, track_splines

_Splines = list[tuple[list[int], Spline]]
"""The splines of a track, each with its components."""
_MOST_TRACKS = 1000
"""Maximum number of tracks whose splines are cached."""


class ExactSampler(TransformSampler):
    """A sampler of the exact motion at ascending `frames`, valid while nothing changes.

    Outside its keys, a track without a cycle or a frame function has the motion of its F-curves.

    `defaults` contains the parameters of keys that have none of their own, for tracks that are off. Several samplers
    can share `fingerprints`.
    """

    def __init__(self, frames: Frames, defaults: Mapping[str, float], fingerprints: Fingerprints | None = None) -> None:
        super().__init__(frames)
        self._defaults = defaults
        self._fingerprints = fingerprints or Fingerprints()

    def _played(self, owner: Any, curves: FCurves, name: str, path: str) -> Float64Array:
        values = super()._played(owner, curves, name, path)
        # Rotations are replaced as a whole.
        if not name.removeprefix("delta_").startswith("rotation"):
            for exact in self._exact(owner, name, path):
                for component, exact_column in zip(exact.components, exact.values.T, strict=True):
                    values[exact.mask, component] = exact_column
        return values

    def _rotation(self, owner: Any, curves: FCurves, delta: str, path: str = "") -> Matrices:
        uid, name = owner.id_data.session_uid, delta + rotation_property(owner.rotation_mode)
        is_moved = any((uid, path + moved) in self._moved for moved in (f"{delta}rotation", name))
        exact_values = [] if is_moved else self._exact(owner, name, path)
        if not exact_values:
            return super()._rotation(owner, curves, delta, path)
        (exact,) = exact_values
        matrices = rotations.to_matrix(exact.values)
        if exact.mask.all():
            return matrices
        turned = super()._rotation(owner, curves, delta, path).copy()
        turned[exact.mask] = matrices
        return turned

    def _exact(self, owner: Any, name: str, path: str) -> list[_ExactValues]:
        """Return the exact values of the owner's property. The list is empty if its F-curves play the exact motion."""
        item = owner.id_data
        tracks = self._fingerprints.inexact(item, path.removesuffix("."))
        track = next((track for track in tracks if track.path == path + name), None)
        if track is None:
            return []
        self._dependencies |= _timing_sources()
        function = function_of(track)
        frames = self.frames if function is None else function(self.frames)
        if not np.isfinite(frames).all():
            return []
        fingerprint = self._fingerprints.without_parents(item, owner if path else None)
        splines = _SPLINES.of(item, track, fingerprint, self._defaults)
        masks = [_is_defined(spline, frames, function) for _, spline in splines]
        try:
            values = evaluate_many([spline for _, spline in splines], [frames[mask] for mask in masks])
        except KeysError:
            return []
        return [
            _ExactValues(components, mask, values_of_spline)
            for (components, _), mask, values_of_spline in zip(splines, masks, values, strict=True)
        ]


class _ExactValues(NamedTuple):
    """The exact values of some components of a property."""

    components: list[int]
    mask: BoolArray
    """Mask of the frames at which a spline defines the motion."""
    values: Float64Array
    """Values at these frames, or unit quaternions for a rotation."""


def _is_defined(spline: Spline, frames: Frames, function: FrameFunction | None) -> BoolArray:
    """Return a mask of the frames at which the spline defines the motion."""
    if function is not None or spline.cycle != "SINGLE":
        return np.ones(len(frames), dtype=np.bool_)
    keys = spline.keys.frames
    inside: BoolArray = (frames >= keys[0]) & (frames <= keys[-1])
    return inside


def _timing_sources() -> set[int]:
    """Return the `session_uid` of all datablocks that can have a frame function, except the owners of tracks."""
    scenes: Any = bpy.data.scenes
    animations = [scene.animation_data for scene in scenes if scene.animation_data is not None]
    actions = [animation.action for animation in animations if animation.action is not None]
    return {datablock.session_uid for datablock in (*scenes, *actions)}


class _SplineCache:
    """A cache of the splines of tracks. It survives changes, because fingerprints show which splines are valid."""

    def __init__(self) -> None:
        self._cached: OrderedDict[tuple[int, str], tuple[Fingerprint, _Splines]] = OrderedDict()

    def of(self, item: Any, track: Track, fingerprint: Fingerprint, defaults: Mapping[str, float]) -> _Splines:
        """Return the splines of the object's track. The list is empty if the keys do not define a motion.

        `fingerprint` is the fingerprint of the object or bone without its parents. `defaults` contains the parameters
        of keys that have none of their own, for tracks that are off.
        """
        key, inputs = (item.session_uid, track.path), (fingerprint, tuple(defaults.items()))
        cached = self._cached.get(key)
        if cached is None or cached[0] != inputs:
            # A `TrackSpline` refers to F-curves, which can become invalid when Blender continues.
            splines = [(spline.components, spline.spline) for spline in _splines_to_play(track, defaults)]
            cached = self._cached[key] = inputs, splines
        self._cached.move_to_end(key)
        while len(self._cached) > _MOST_TRACKS:
            self._cached.popitem(last=False)
        return cached[1]


_SPLINES = _SplineCache()


def _splines_to_play(track: Track, defaults: Mapping[str, float]) -> list[TrackSpline]:
    """Return the splines that a bake would play, with the parameters implied by edits."""
    options = track.settings.options
    defaults = defaults if options is None else options.defaults
    own: OwnChannels = read_own_keys(track)
    if track.is_played and track.is_rotation and not is_keyed_whole(track, own):
        # Live adds the missing keys. Until then, only Blender can evaluate the other channels.
        return []
    if may_imply([track], [own])[0]:
        own, _ = with_implied(track, own, defaults)
    return _valid_splines(track, own, defaults)


def leaves_keys(track: Track) -> bool:
    """Return whether the exact motion of the track does not pass through its keys."""
    has_splines = track.is_baked or is_inexact(track)
    splines = _valid_splines(track, read_own_keys(track), {}) if has_splines else []
    return any(not spline.spline.interpolating for spline in splines)


def channel_values(track: Track, own: OwnChannels, frame: float, defaults: Mapping[str, float]) -> Float64Array:
    """Return the channel values at a frame of the track's splines through these keys.

    Raises AnimationError or KeysError if the keys do not define a motion.
    """
    values = np.array([track.component(index) for index in range(len(track.rest))], dtype=np.float64)
    for spline in track_splines(track, track.settings, own, defaults):
        at_frame = spline.spline(np.array([frame]))
        if track.is_rotation:
            nearest_key = int(np.argmin(np.abs(spline.frames - frame)))
            at_frame = unwrapped(track, at_frame, spline.values[nearest_key])
        values[spline.components] = at_frame[0]
    return values


def _valid_splines(track: Track, own: OwnChannels, defaults: Mapping[str, float]) -> list[TrackSpline]:
    try:
        return track_splines(track, track.settings, own, defaults)
    except (AnimationError, KeysError):
        return []
