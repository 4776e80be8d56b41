# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit the Bezier handles with which the animator's own keys play a spline, without additional keys.

Between two keys, Blender plays each channel as a cubic in frame and value. Handles can be at any frame in the segment,
independently for each channel. Segments of values without ease are exact with handles at thirds. All other segments are
fitted, with the spline's derivatives at the keys. Damped Gauss-Newton steps (Levenberg-Marquardt) optimize the reach of
each handle for all segments of all tracks at once. The same steps optimize the lengths of quaternions, which Blender
normalizes. Source: docs/formulas, "Fitting handles".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..keys import BoolArray, Float32Array, Float64Array, IndexArray
from ..rotations import sphere
from ..rotations.representations import RotationRepresentation
from .handle_motion import EASED, SampledSegments, SamplePoints, SegmentMotion, Segments, chebyshev
from .handle_shapes import StoredHandles, fitted_shape, float32_handles
from .requests import Batch, Request, angles_apart, fit_in_batches, maxima


@dataclass(frozen=True)
class Handles:
    """The handles of a spline's keys.

    Attributes
    ----------
    left, right : ndarray of float32, shape (n, channels, 2)
        Frame and value of the handles before and after each key, for the sign in `signs`. NaN on the side of a segment
        that was not fitted, and outside the keys.
    signs : ndarray, shape (n,)
        -1 for quaternion keys that must be negated to continue from the previous key, otherwise 1. Handles of unfitted
        segments must be negated too. Key 0 keeps its sign, and keys on both sides of an unfitted segment keep their
        relative sign.
    errors : ndarray, shape (n, channels)
        The maximum error in the segment that starts at each key. The error of a rotation is an angle in radians, the
        same for all channels. Segments that were not fitted have the error 0.
    frames : ndarray, shape (n, channels)
        The frame of the maximum error. NaN for segments that were not fitted.
    rounding : ndarray, shape (n, channels)
        The part of the error that float32 keys and handles can cause. NaN for segments that were not fitted.
    jumps : ndarray of bool, shape (n,)
        True if the channels of a rotation other than a quaternion would have to arrive at the key with another
        representation of its orientation, which no handles can achieve.
    """

    left: Float32Array
    right: Float32Array
    signs: Float64Array
    errors: Float64Array
    frames: Float64Array
    rounding: Float64Array
    jumps: BoolArray


def fit_handles(requests: Sequence[Request]) -> list[Handles]:
    """Fit the handles of many splines at once.

    Parameters
    ----------
    requests : sequence of Request
        Any mixture of splines of values and rotations.

    Returns
    -------
    list of Handles
        Handles in the order of the requests. The handles of a segment do not depend on other segments.

    Raises
    ------
    TypeError
        If a request has no spline, or arguments are not numbers.
    ValueError
        If numbers are not finite, too large for float32, or quaternions of length zero, or do not match the shape of
        the keys. Representations other than quaternions require numbers. ValueError is also raised if `segments` is not
        one bool per key, a rotation has no known representation, or values have a representation.

    Notes
    -----
    Keys are not moved. The frame of a handle is within its segment, and its value matches the frame rounded to float32.
    docs/measurements/handles.md lists the errors of quaternions. For keys 60 degrees apart, with tension, continuity
    and bias within 0.5, the median, 90th percentile and maximum errors are 0.004, 0.011 and 0.056 degrees. With eases
    of up to 0.5, these errors are 0.33, 0.64 and 1.5 degrees.

    Without ease, values and quaternions have the spline's derivatives or angular velocities at keys. Kinks are more
    visible than an error of a hundredth of a degree, and free derivatives would only halve such errors. An ease brings
    the spline to rest at the key, but handles at rest have no direction. Such handles increased errors by factors of
    two to four, and the largest errors by factors of seven to fourteen. Next to an ease, some speed therefore remains
    at the key. This speed is a tenth of the segment's mean speed at the median and a third at the 90th percentile.
    Derivatives of angle channels also change, by less than a hundredth at the median.

    Errors are measured in float64 with float32 handles, at 60 points per segment with ease. Segments without ease are
    measured at 12 points, or 9 for quaternions, and errors up to 0.002 (radians or units of the value) are interpolated
    between them. Larger errors are measured at three times as many points. A parabola through the largest errors
    determines the maximum. docs/measurements/handles.md lists the accuracy of these errors. With turns of almost 360
    degrees between keys, errors of more than 100 degrees have narrow peaks. Such errors can be understated by more than
    half. Values without ease are exact except for rounding: 1.2e-6 of their range near frame 0, 4e-6 up to frame 1024,
    and 2.4e-4 near frame 100000. These figures include Blender's rounding during playback. Euler angles and axis-angle
    are fitted per channel to values that continue from the key. If these values differ from the values of the next key,
    for example by a full turn, no handles fit, and the error is large. A spline that misses its keys has an error at
    the keys. Source: docs/formulas, "Fitting handles".

    Examples
    --------
    >>> turn = tcb.RotationSpline(Keys([0, 20], [[1, 0, 0, 0], [0, 0.6, 0.8, 0]]))
    >>> (fit,) = handles.fit_handles([Request(turn, "QUATERNION")])
    >>> fit.right[0].shape, bool(np.degrees(fit.errors[0].max()) < 0.001)
    ((4, 2), True)
    """
    return fit_in_batches(requests, lambda batch: _HandleFits(batch).handles())


_INTERPOLATED = 0.002
"""Errors up to this number of radians, or units of a value, are interpolated between the nodes. Others are measured."""
_DOUBTFUL = 0.05
"""With larger errors, angles may have turned the other way between the points, so finer points are fitted."""
_EASED_DRAFT = SamplePoints(chebyshev(10), slice(None))
"""Points in segments with eases. Ten nodes suffice, because the only step of a draft is short."""


class _HandleFits:
    """The fits of requests with the same batch and representation."""

    def __init__(self, batch: Batch) -> None:
        self._batch, self._motion = batch, SegmentMotion(batch)

    def handles(self) -> list[Handles]:
        """Return the handles of each request."""
        count, channels = self._batch.numbers.shape
        left, right = np.full((2, count, channels, 2), np.nan, dtype=np.float32)
        errors, error_frames = np.zeros((count, channels)), np.full((count, channels), np.nan)
        flips, jumps = np.ones(count), np.zeros(count, dtype=np.bool_)
        for segments in self._motion.groups():
            begin, (start, end), eases = segments
            fits = self._fits_of(segments, EASED if eases.any() else self._motion.plain)
            flips[begin + 1], jumps[begin + 1] = fits.flips, fits.jumps
            errors[begin] = fits.errors.T
            error_frames[begin] = (start + fits.worst * (end - start)).T
            right[begin], left[begin + 1] = np.stack([fits.frames, fits.values], axis=-1).swapaxes(1, 2)
        first, last = self._batch.tracks.first, self._batch.tracks.last
        # Signs accumulate from the first key of each track. The values of a segment have the sign of its first key.
        signs = np.multiply.accumulate(flips)
        signs *= np.repeat(signs[first], last - first + 1)
        right[..., 1] *= signs[:, np.newaxis]
        left[1:, :, 1] *= signs[:-1, np.newaxis]
        rounding = self._rounding_errors(left, right, signs)
        arrays: tuple[Any, ...] = left, right, signs, errors, error_frames, rounding, jumps
        return [Handles(*[array[keys] for array in arrays]) for keys in map(slice, first.tolist(), (last + 1).tolist())]

    def _rounding_errors(self, left: Float32Array, right: Float32Array, signs: Float64Array) -> Float64Array:
        """Return the error that float32 rounding causes in the segment after each key, shape (keys, channels).

        In each segment, two of the four control points are rounded, in both frame and value, by up to half a float32
        step. Together, these points have a weight of at most three quarters.
        """
        values, representation = self._batch.numbers * signs[:, np.newaxis], self._batch.representation
        keys = np.empty((*values.shape, 2))
        keys[..., 0], keys[..., 1] = self._batch.tracks.frames[:, np.newaxis], values
        points = np.stack([keys[:-1], right[:-1], left[1:], keys[1:]])
        float32_step = np.spacing(np.abs(points).max(axis=0).astype(np.float32)).astype(np.float64)
        frame_step, value_step = float32_step.transpose(2, 0, 1)
        ahead, rise = np.abs(np.diff(points, axis=0)).transpose(3, 0, 1, 2)
        speed = (rise / np.maximum(ahead, frame_step)).max(axis=0)
        rounding = np.full(values.shape, np.nan)
        rounding[:-1] = 0.5 * (value_step + frame_step * speed)
        if representation is not None:
            rounding[:-1] = (rounding[:-1] * _angles_per_unit(representation, values)).sum(axis=1, keepdims=True)
        rounding[self._batch.tracks.last] = np.nan
        return rounding

    def _fits_of(self, segments: Segments, points: SamplePoints) -> _SegmentFits:
        """Return the fit of each segment. Larger errors need finer points."""
        sampled = self._motion.sampled(segments, points)
        course, flips, jumps = self._motion.course(sampled)
        stored = StoredHandles.of(segments, course, fitted_shape(course, points))
        errors, worst = self._errors(stored, sampled)
        handles = (array.reshape(2, self._batch.channels, -1) for array in (stored.frames, stored.values))
        fits = _SegmentFits(flips, jumps.astype(np.float64), errors, worst, *handles)
        if points.finer is None:
            return fits
        largest = errors.max(axis=0)
        is_doubtful = jumps | (largest > _DOUBTFUL)
        inaccurate = np.flatnonzero((largest > _INTERPOLATED) & ~is_doubtful)
        if len(inaccurate):
            finer = self._motion.sampled(segments.take(inaccurate), points.finer.points)
            finer_errors = self._errors(stored.of_segments(inaccurate, len(jumps)), finer)
            errors[:, inaccurate], worst[:, inaccurate] = finer_errors
        if is_doubtful.any():
            arrays: tuple[Any, ...] = fits
            refits = self._fits_of(segments.take(np.flatnonzero(is_doubtful)), points.finer.points)
            for array, refit in zip(arrays, refits, strict=True):
                array[..., is_doubtful] = refit
        return fits

    def _errors(self, stored: StoredHandles, sampled: SampledSegments) -> tuple[Float64Array, Float64Array]:
        """Return the maximum error of each channel or rotation, and the local parameter there, shape (c or 1, N)."""
        points, exact = sampled.points, sampled.exact[:, 1:-1]
        representation, finer = self._batch.representation, points.finer
        channels = stored.played(points.at)
        if representation is None or not representation.homogeneous:
            channels = channels.reshape(len(points.at), self._batch.channels, -1).swapaxes(0, 1)
        if representation is None:
            errors = np.abs(channels - exact if finer is None else finer.interpolation @ (channels - exact))
        elif finer is None:
            errors = angles_apart(representation, channels, exact)[np.newaxis]
        else:
            q = representation.orientation(channels)
            half_turns = sphere.product(sphere.conjugate(exact), q / sphere.length(q))[1:]
            # For small angles, the vector of the quaternion is half the rotation vector.
            errors = 2.0 * sphere.length(finer.interpolation @ half_turns)[np.newaxis]
        errors, worst = maxima(errors, points.at if finer is None else finer.points.at)
        if representation is not None:
            # Orientations are never more than half a turn apart, but the maxima of parabolas may exceed half a turn.
            errors = np.fmin(errors, np.pi)
        return errors, worst


def _angles_per_unit(representation: RotationRepresentation, values: Float64Array) -> Float64Array:
    """Return the approximate angle per unit of each channel between neighboring keys, shape (keys - 1, channels)."""
    angles = np.ones_like(values[1:])
    # Euler angles have one radian per unit.
    if len(values.T) == 4:
        directions = slice(0 if representation.homogeneous else 1, None)
        lengths = np.linalg.norm(values[:, directions], axis=1, keepdims=True)
        length = np.maximum(lengths[:-1], lengths[1:])
        angles[:, directions] = np.divide(2.0, length, out=np.zeros_like(length), where=length > 0.0)
    return angles


class _SegmentFits(NamedTuple):
    """The fit of N segments. There is one error per channel, or one for all c channels."""

    flips: Float64Array
    """-1 where the end key must be negated, otherwise 1, shape (N,)."""
    jumps: Float64Array
    """1 where channels do not arrive with the values of the end key, otherwise 0, shape (N,)."""
    errors: Float64Array
    """The maximum errors, shape (c or 1, N)."""
    worst: Float64Array
    """The local parameters of the maximum errors, shape (c or 1, N)."""
    frames: Float32Array
    """The frames of the handles after the start and before the end, shape (2, c, N)."""
    values: Float32Array
    """The values of the same handles."""


class Draft(NamedTuple):
    """Drafted handles for N segments with c channels."""

    right: Float32Array
    """The frame and value of the handles after the first keys of segments, shape (N, c, 2)."""
    left: Float32Array
    """The frame and value of the handles before the last keys, with the sign of the first key."""
    flips: Float64Array
    """-1 where the last key must be negated relative to the first key, otherwise 1, shape (N,)."""


class HandleDrafts:
    """Repeated drafts of the same handles while a drag changes the parameters.

    Data that does not depend on the parameters is prepared once. A draft takes one descent step, and more steps for
    large errors if there are few segments. A draft does not measure errors, and takes at most a third as long as a fit.

    Parameters
    ----------
    requests : sequence of Request
        Requests with the same representation, whose splines have the same `batch`.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        self._batch = Batch.of(requests)

    @property
    def segments(self) -> IndexArray:
        """Return the first key of each segment, as an index into the keys of all requests, shape (N,)."""
        return self._batch.segments

    @property
    def parameters(self) -> Float64Array:
        """Return the parameters of the keys of all requests, shape (5, keys)."""
        return self._batch.tracks.parameters

    def fitted(self, parameters: Float64Array) -> Draft:
        """Return the handles for key parameters of shape (5, keys)."""
        motion = SegmentMotion(self._batch.with_parameters(parameters))
        count, channels = len(self.segments), self._batch.channels
        right, left = np.empty((2, count, channels, 2), dtype=np.float32)
        flips = np.ones(count)
        for segments in motion.groups():
            points = _EASED_DRAFT if segments.eases.any() else motion.plain
            course, flips_of_group, _ = motion.course(motion.sampled(segments, points))
            handles = float32_handles(segments, course, fitted_shape(course, points, is_draft=True))
            rows = np.searchsorted(self.segments, segments.begin)
            frames, values = (array.reshape(2, channels, -1) for array in handles)
            right[rows], left[rows] = np.stack([frames, values], axis=-1).swapaxes(1, 2)
            flips[rows] = flips_of_group
        return Draft(right, left, flips)
