# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that Blender inserted on curves played by handles. Such a key has the curve's value, and handles along it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..bake.plans.own_motion import OwnChannels
from ..fcurves.bezier_segments import evaluate_beziers, is_plain
from ..fcurves.keyframes import NO_KEYS, SIDES, Keyframes
from ..store.table import key_identity
from ..store.table.track_records import Written
from ..store.tracks import Track
from .mirrored_keys import written_keys

_STEP = 1e-3
"""Step in frames of the central differences that give derivatives of curves."""
_ON_CURVE = 1e-4
"""Tolerance relative to the range of values. Keys that Blender inserts on a curve are rounded."""


class CurvePoint(NamedTuple):
    """A point on a curve."""

    value: float
    slope: float
    """The derivative per frame."""


def find_inserted(track: Track, own: OwnChannels) -> Iterator[tuple[int, dict[int, CurvePoint]]]:
    """Yield the keys inserted on the curves since these were written, for channels with a common spline.

    Each key is given by its row, and by the point of the curve in each channel.
    """
    is_new = np.all([keys.identities == key_identity.NONE for keys in own.values()], axis=0)
    if not is_new.any():
        return
    curves = {index: _curve(written) for index in own if (written := written_keys(track, index)) is not None}
    # The negated quaternion represents the same orientation.
    signs = (1.0, -1.0) if track.kind == "QUATERNION" and len(own) == len(track.rest) else (1.0,)
    for row in np.flatnonzero(is_new).tolist():
        values: dict[int, float] = {}
        points: dict[int, CurvePoint] = {}
        for index, curve in curves.items():
            frame, values[index] = own[index].keys.co[row].astype(np.float64).tolist()
            point = _point_on(curve, frame)
            if point is not None:
                points[index] = point
        if len(points) == len(own) and any(_are_on(curves, points, values, sign) for sign in signs):
            yield row, points


def _curve(written: Written) -> Keyframes:
    """Return the curve's keys as they were written."""
    names = ("co", *SIDES, "interpolation")
    return NO_KEYS.with_(**{name: np.ascontiguousarray(written[name]) for name in names})


def _point_on(curve: Keyframes, frame: float) -> CurvePoint | None:
    """Return the point of the curve at the frame, or None outside Bezier segments."""
    begin = int(np.searchsorted(curve.frames, frame)) - 1
    if not 0 <= begin < len(curve) - 1 or not is_plain(curve)[begin]:
        return None
    frames = frame + _STEP * np.array([0.0, -1.0, 1.0])
    value, before, after = evaluate_beziers(curve, np.full(3, begin), frames).tolist()
    return CurvePoint(value, (after - before) / (2.0 * _STEP))


def _are_on(
    curves: Mapping[int, Keyframes], points: Mapping[int, CurvePoint], values: Mapping[int, float], sign: float
) -> bool:
    """Return whether the values, multiplied by the sign, are on the curves."""
    for index, curve in curves.items():
        size = float(np.ptp(curve.values.astype(np.float64))) + abs(values[index])
        if abs(points[index].value - sign * values[index]) > _ON_CURVE * size:
            return False
    return True
