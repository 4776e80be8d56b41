# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys inserted by Blender on the curve of a track played by handles, and the slopes of the curve at these keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..bake.plans.protocol import OwnChannels
from ..fcurves import beziers
from ..fcurves.keyframes import NO_KEYS, SIDES, Keyframes
from ..store.table import key_identity
from ..store.table.track_records import Written
from ..store.tracks import Track
from .mirrored_keys import written_keys

_STEP = 1e-3
"""Step in frames of the central differences that give derivatives of curves."""
_ON_CURVE = 1e-4
"""Tolerance relative to the range of values. Keys that Blender inserts on a curve are rounded."""


def find_inserted(track: Track, own: OwnChannels) -> Iterator[tuple[int, dict[int, float], dict[int, float]]]:
    """Yield the rows of keys inserted on the curves since they were written, with the curves' values and slopes.

    `own` contains channels with a common spline. Slopes are derivatives per frame.
    """
    fresh = np.all([each.identities == key_identity.NONE for each in own.values()], axis=0)
    if not fresh.any():
        return
    curves = {index: _curve(written) for index in own if (written := written_keys(track, index)) is not None}
    # The negated quaternion represents the same orientation.
    signs = (1.0, -1.0) if track.kind == "QUATERNION" and len(own) == len(track.rest) else (1.0,)
    for row in np.flatnonzero(fresh).tolist():
        values: dict[int, float] = {}
        courses: dict[int, tuple[float, float]] = {}
        for index, curve in curves.items():
            frame, values[index] = own[index].keys.co[row].astype(np.float64).tolist()
            course = _course(curve, frame)
            if course is not None:
                courses[index] = course
        if len(courses) == len(own) and any(_are_on(curves, courses, values, sign) for sign in signs):
            on_curves, slopes = ({index: course[part] for index, course in courses.items()} for part in range(2))
            yield row, on_curves, slopes


def _are_on(
    curves: Mapping[int, Keyframes],
    courses: Mapping[int, tuple[float, float]],
    values: Mapping[int, float],
    sign: float,
) -> bool:
    """Return whether the values, multiplied by the sign, are on the curves."""
    for index, curve in curves.items():
        size = float(np.ptp(curve.values.astype(np.float64))) + abs(values[index])
        if abs(courses[index][0] - sign * values[index]) > _ON_CURVE * size:
            return False
    return True


def _curve(written: Written) -> Keyframes:
    """Return the curve's keys as they were written."""
    names = ("co", *SIDES, "interpolation")
    return NO_KEYS.with_(**{name: np.ascontiguousarray(written[name]) for name in names})


def _course(curve: Keyframes, frame: float) -> tuple[float, float] | None:
    """Return the value and derivative of the curve at the frame, or None outside Bezier segments."""
    begin = int(np.searchsorted(curve.frames, frame)) - 1
    if not 0 <= begin < len(curve) - 1 or not beziers.is_plain(curve)[begin]:
        return None
    about = frame + _STEP * np.array([0.0, -1.0, 1.0])
    value, before, after = beziers.evaluate(curve, np.full(3, begin), about).tolist()
    return value, (after - before) / (2.0 * _STEP)
