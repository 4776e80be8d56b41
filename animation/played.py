# SPDX-License-Identifier: GPL-3.0-or-later
"""What the F-curves of a track play between its keys, to be compared with what its splines do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..interp import rotations, tcb
from ..interp.likeness import Part, sample_frames
from .bake.splines import Float64Array, TrackSpline, own_motion, quaternions_of
from .fcurves.frames import union
from .fcurves.keyframes import INTERPOLATION, BoolArray, FloatArray
from .store.originals import Originals
from .store.stamps import SAME_FRAME
from .store.tracks import Track


def has_bezier_segments(originals: Mapping[int, Originals]) -> bool:
    return any((own.keys.interpolation[:-1] == INTERPOLATION["BEZIER"]).any() for own in originals.values())


def played_parts(track: Track, originals: Mapping[int, Originals], splines: Sequence[TrackSpline]) -> list[Part]:
    """The track's splines, of two keys or more, with what its F-curves play.

    Empty where that is not a finite number, or no rotation.
    """
    frames = union([original.keys.frames for original in originals.values()])
    parts = []
    for spline in splines:
        played = _played(track, originals, spline)
        if played is None:
            return []
        seen = ~np.stack(
            [_jumps(originals.get(index), spline.frames, spline.values[:, place]) for place, index in _places(spline)]
        ).T
        if track.is_rotation:
            seen = np.repeat(seen.all(axis=1, keepdims=True), played.shape[2], axis=1)
        rows = np.searchsorted(frames, spline.frames - np.float32(SAME_FRAME))
        # Others have no parameters to fit.
        assert isinstance(spline.spline, (tcb.VectorSpline, tcb.RotationSpline))
        parts.append(Part(spline.spline, rows, played, seen))
    return parts


def _places(spline: TrackSpline) -> list[tuple[int, int]]:
    return list(enumerate(spline.components))


def _played(track: Track, originals: Mapping[int, Originals], spline: TrackSpline) -> Float64Array | None:
    at = sample_frames(spline.frames.astype(np.float64))
    frames = at.ravel().astype(np.float32)
    raw = np.empty((len(frames), len(spline.components)))
    for place, index in _places(spline):
        original = originals.get(index)
        raw[:, place] = track.component(index) if original is None else own_motion(track, index, original, frames)
    if track.is_rotation:
        raw = quaternions_of(track, raw)
        if not raw.any(axis=1).all():
            return None
        raw = rotations.normalise(raw) if np.isfinite(raw).all() else raw
    return raw.reshape(*at.shape, -1) if np.isfinite(raw).all() else None


def _jumps(original: Originals | None, frames: FloatArray, values: Float64Array) -> BoolArray:
    """Which segments between the frames end with a jump of this component."""
    jumps: BoolArray = values[1:] != values[:-1]
    if original is None:
        return np.zeros_like(jumps)
    before = np.searchsorted(original.keys.frames, frames[:-1] + np.float32(SAME_FRAME), side="right") - 1
    jumps &= original.keys.interpolation[np.maximum(before, 0)] == INTERPOLATION["CONSTANT"]
    jumps &= before >= 0
    return jumps
