# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit handles and additional keys to motion that Blender's curves cannot reproduce exactly."""

from __future__ import annotations

import numpy as np

from ...formats.curve import CUBIC, Curve
from ...interp.fitting import Request
from ...interp.fitting.curves import fit_many
from ...interp.fitting.handles import fit_handles
from ...interp.keys import Float64Array
from ..fcurves.keyframes import BoolArray
from .clock import Evaluate
from .sampled_spline import SampledSpline

_HANDLE_COLUMNS = ("arriving", "leaving", "reach_before", "reach_after")


def fit(
    frames: Float64Array,
    evaluate: Evaluate,
    segments: BoolArray,
    representation: str | None,
    numbers: Float64Array | None,
    tolerance: float | None,
) -> list[Curve]:
    """Return, for each channel, a curve over frames that reproduces the motion between keys.

    Parameters
    ----------
    frames : ndarray, shape (n,)
        Frames of the keys.
    evaluate : callable
    segments : ndarray of bool, shape (n,)
        The segments to fit. The caller replaces the other segments by steps.
    representation : str or None
        The representation of rotations, or None for values.
    numbers : ndarray, shape (n, channels), or None
        For rotations, the keys of the channels.
    tolerance : float or None
        Add keys until the error is less than this tolerance. If None, add no keys.
    """
    spline = SampledSpline(frames, evaluate, representation is not None)
    request = Request(spline, representation, numbers, segments, tolerance)
    values = spline.keys.values if numbers is None else numbers
    return _with_handles(request, values) if tolerance is None else _with_added_keys(request, values)


def _with_handles(request: Request, values: Float64Array) -> list[Curve]:
    """Return curves with fitted handles and no additional keys. `values` has the shape (n, channels)."""
    (fitted,) = fit_handles([request])
    frames = request.spline.keys.frames
    values = values * fitted.signs[:, np.newaxis] if request.representation == "QUATERNION" else values
    curves = []
    for channel in range(values.shape[1]):
        keys = np.stack((frames, values[:, channel]), axis=-1)
        leaving, reach_after = _slopes_and_reaches(keys, fitted.right[:-1, channel].astype(np.float64) - keys[:-1])
        arriving, reach_before = _slopes_and_reaches(keys, keys[1:] - fitted.left[1:, channel].astype(np.float64))
        curve = Curve.hermite(frames, values[:, channel], CUBIC)
        columns = {name: getattr(curve, name).copy() for name in _HANDLE_COLUMNS}
        columns["leaving"][:-1], columns["reach_after"][:-1] = leaving, reach_after
        columns["arriving"][1:], columns["reach_before"][1:] = arriving, reach_before
        curves.append(Curve(**{**vars(curve), **columns}))
    return curves


def _slopes_and_reaches(keys: Float64Array, handles: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes of each segment's handles at one end, and their lengths as fractions of the segment.

    `keys` contains frames and values, shape (n, 2). `handles` contains the distances of frames and values from keys to
    right handles, or from left handles to keys, shape (n - 1, 2). They are NaN for segments that are not fitted. These
    segments are straight.
    """
    length, rise_of_segment = np.diff(keys, axis=0).T
    away, rise = handles.T
    is_fitted = np.isfinite(away)
    away = np.where(is_fitted & (away > 0.0), away, length / 3.0)
    return np.where(is_fitted, rise / away, rise_of_segment / length), away / length


def _with_added_keys(request: Request, values: Float64Array) -> list[Curve]:
    """Return curves with additional keys. `values` has the shape (n, channels)."""
    (fitted,) = fit_many([request])
    frames = request.spline.keys.frames
    flips: Float64Array = np.ones(len(frames))
    if request.representation == "QUATERNION":
        # If the channels reach a key with the opposite sign, keep that sign after the key.
        flips[(fitted.arriving * values).sum(axis=1) < 0.0] = -1.0
    signs: Float64Array = np.multiply.accumulate(flips)
    signs_before = np.append(1.0, signs[:-1])
    curves = []
    for channel, knots in enumerate(fitted.knots):
        segment = np.maximum(np.searchsorted(frames, knots.frames, side="right") - 1, 0)
        all_frames = np.concatenate((frames, knots.frames))
        order = np.argsort(all_frames, kind="stable")
        columns = (
            (signs * values[:, channel], signs[segment] * knots.values),
            (signs_before * fitted.incoming[:, channel], signs[segment] * knots.derivatives),
            (signs * fitted.outgoing[:, channel], signs[segment] * knots.derivatives),
        )
        all_values, arriving, leaving = (np.concatenate(column)[order] for column in columns)
        curves.append(Curve.hermite(all_frames[order], all_values, CUBIC, arriving, leaving))
    return curves
