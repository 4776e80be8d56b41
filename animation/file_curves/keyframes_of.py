# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert curves to keys of F-curves."""

from __future__ import annotations

import numpy as np

from ...formats.motion import CONSTANT, CUBIC, LINEAR, Curve
from ..fcurves.keyframes import HANDLE, INTERPOLATION, KEY_TYPE, NAMES, NO_KEYS, Keyframes, made_like

_KINDS = {CONSTANT: "CONSTANT", LINEAR: "LINEAR", CUBIC: "BEZIER"}
_THIRD = 1.0 / 3.0
_ALONE = 3.0
"""Frames. The segment length used for the handles of a key without a segment."""


def keyframes_of(curve: Curve) -> Keyframes:
    """Return the keys of a curve over frames, with FREE handles.

    In segments that are not Bezier segments, handles are at thirds of a straight line, where Blender would place them.
    """
    count = len(curve)
    values = np.where(curve.interpolation == CONSTANT, curve.held, curve.values)
    values[-1] = curve.values[-1]
    length = np.diff(curve.times)
    cubic = curve.interpolation[:-1] == CUBIC
    chord = np.where(curve.interpolation[:-1] == LINEAR, np.diff(values), 0.0) / np.where(length > 0.0, length, 1.0)
    leaving = np.append(np.where(cubic, curve.leaving[:-1], chord), 0.0)
    arriving = np.append(0.0, np.where(cubic, curve.arriving[1:], chord))
    reach_after = np.append(np.where(cubic, curve.reach_after[:-1], _THIRD) * length, 0.0)
    reach_before = np.append(0.0, np.where(cubic, curve.reach_before[1:], _THIRD) * length)
    # The outer handles mirror the inner ones.
    outside = reach_after[0] or _ALONE * _THIRD
    reach_before[0], arriving[0] = outside, leaving[0]
    reach_after[-1], leaving[-1] = reach_before[-1] or outside, arriving[-1]
    co = np.stack((curve.times, values), axis=-1)
    left = np.stack((curve.times - reach_before, values - arriving * reach_before), axis=-1)
    right = np.stack((curve.times + reach_after, values + leaving * reach_after), axis=-1)
    blank = Keyframes(
        **{name: np.zeros((count, *getattr(NO_KEYS, name).shape[1:]), getattr(NO_KEYS, name).dtype) for name in NAMES}
    )
    kinds = np.array([INTERPOLATION[_KINDS[kind]] for kind in sorted(_KINDS)], dtype=np.uint8)
    keys = made_like(blank, co, left, right)
    return keys.with_(
        handle_left_type=np.full(count, HANDLE["FREE"], dtype=np.uint8),
        handle_right_type=np.full(count, HANDLE["FREE"], dtype=np.uint8),
        interpolation=kinds[curve.interpolation],
        type=np.full(count, KEY_TYPE["KEYFRAME"], dtype=np.uint8),
    )
