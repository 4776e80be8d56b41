# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit the Bezier handles with which the animator's own keys play a spline, without additional keys.

Between two keys, Blender plays each channel as a cubic in frame and value. Handles can be at any frame in the segment,
independently for each channel. Segments of values without ease are exact with handles at thirds. All other segments are
fitted, with the spline's derivatives at the keys. Damped Gauss-Newton steps (Levenberg-Marquardt) optimize the reach of
each handle for all segments of all tracks at once. The same steps optimize the lengths of quaternions, which Blender
normalizes. Source: docs/formulas, "Fitting handles".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import ease
from ..base_spline import BLOCK
from ..key_batch import BoolArray, IndexArray
from ..keys import Float32Array, Float64Array
from ..rotations import sphere
from ..rotations.representations import JUMP
from .handle_shapes import (
    CUBIC,
    EASED,
    PLAIN,
    SMOOTH,
    Course,
    DraftSize,
    SamplePoints,
    Shape,
    bezier_powers,
    chebyshev,
    eased_share,
    fitted_shape,
    frame_powers,
    parameters_at,
    rise_at,
    stiffness_of,
)
from .known_fits import KnownFits as KnownFits
from .known_fits import row_bytes
from .largest_errors import angles_apart, highest_peaks, maxima
from .requests import Batch, Request, fit_in_batches

_PROBES = slice(4, None, 9)
"""The samples that, with the ends, the end derivatives and the eases, identify a segment that was fitted before.

Curves of any method that agree in all of these values to the last bit are equal.
"""
_FEW = 32
"""Up to this number of segments, all samples are evaluated at once, whether the segments are known or not."""
_ROUGH = 0.05
"""Rotations with errors above this limit, in radians, may have narrow error peaks, for example at a full turn."""
_FINE = chebyshev(240)
"""The points at which errors above `_ROUGH` are measured."""
_PEAKS = 3
"""The number of highest error peaks that are measured again, between the samples on both sides of each peak.

Peaks are narrow where handles are so long that the frame hardly rises, and where an ease ends.
"""
_POINTS_PER_PEAK = 8
"""The number of points at which each peak is measured again."""
_CHANNELS_TOGETHER = 2048
"""The number of segment channels sampled at a time. Memory for larger arrays is allocated again each time."""


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
    jumps : ndarray of bool, shape (n,)
        True if the channels of a rotation other than a quaternion would have to arrive at the key with another
        representation of its orientation, which no handles can achieve.
    """

    left: Float32Array
    right: Float32Array
    signs: Float64Array
    errors: Float64Array
    frames: Float64Array
    jumps: BoolArray


def fit_handles(requests: Sequence[Request], known: KnownFits | None = None) -> list[Handles]:
    """Fit the handles of many splines at once.

    Parameters
    ----------
    requests : sequence of Request
        Any mixture of splines of values and rotations.
    known : KnownFits, optional
        A cache of earlier fits, initially ``handles.KnownFits()``, which is updated. With a cache, unchanged segments
        take at most half as long.

    Returns
    -------
    list of Handles
        Handles in the order of the requests. The handles of a segment do not depend on other segments.

    Raises
    ------
    TypeError
        If a request has no spline, arguments are not numbers, or `known` is not a `KnownFits`.
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
    measured at 36 points, or 27 for quaternions and 12 for cubics. There are 8 additional points around the largest
    maxima, except for quaternions without ease and for cubics. If a rotation error exceeds 3 degrees, it is measured
    again at 240 points. The result is within a few percent of the maximum error. Values without ease are exact except
    for rounding: 1.2e-6 of their range near frame 0, 4e-6 up to frame 1024, and 2.4e-4 near frame 100000. These figures
    include Blender's rounding during playback. Euler angles and axis-angle are fitted per channel to values that
    continue from the key. If these values differ from the values of the next key, for example by a full turn, no
    handles fit, and the error is large. A spline that misses its keys has an error at the keys. Source: docs/formulas,
    "Fitting handles".

    Examples
    --------
    >>> turn = tcb.RotationSpline(Keys([0, 20], [[1, 0, 0, 0], [0, 0.6, 0.8, 0]]))
    >>> (fit,) = handles.fit_handles([Request(turn, "QUATERNION")])
    >>> fit.right[0].shape, bool(np.degrees(fit.errors[0].max()) < 0.001)
    ((4, 2), True)
    """
    if not isinstance(known, KnownFits | None):
        raise TypeError(f"known must be KnownFits, not {known!r}")
    return fit_in_batches(requests, lambda batch: HandleFitting(batch, known).handles())


class Segments(NamedTuple):
    """The N segments that are fitted together."""

    begin: IndexArray
    """The keys at which the segments begin, shape (N,)."""
    frames: Float64Array
    """The frames at which the segments begin and end, shape (2, N)."""
    eases: Float64Array
    """`ease_from` of the start and `ease_to` of the end, shape (2, N)."""

    def take(self, columns: IndexArray) -> Segments:
        """Return a subset of the segments."""
        return Segments(self.begin[columns], self.frames[:, columns], self.eases[:, columns])


class SegmentFits(NamedTuple):
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

    @staticmethod
    def rows_of(arrays: Sequence[Float64Array | Float32Array]) -> Float64Array:
        """Return all numbers of each segment as a row, shape (N, numbers). Segments are on the last axis of arrays."""
        rows = np.concatenate([array.reshape(-1, array.shape[-1]) for array in arrays]).T
        return np.ascontiguousarray(rows, dtype=np.float64)

    @classmethod
    def of_rows(cls, rows: Float64Array, channels: int) -> SegmentFits:
        """Return the fit from the rows that `rows_of` returns."""
        handles = rows[:, -4 * channels :].T.reshape(2, 2, channels, -1).astype(np.float32)
        errors, worst = np.split(rows[:, 2 : -4 * channels].T, 2)
        return cls(rows[:, 0], rows[:, 1], errors, worst, *handles)


class HandleFitting:
    """Requests with the same batch and representation."""

    def __init__(self, batch: Batch, known: KnownFits | None) -> None:
        self._representation, self._tracks, self._curve = batch.representation, batch.tracks, batch.curve
        self._numbers, self._begin, requests = batch.numbers, batch.segments, batch.requests
        representation, is_cubic = self._representation, requests[0].spline.is_cubic and self._representation is None
        is_smooth = representation is not None and representation.homogeneous
        self._plain = CUBIC if is_cubic else SMOOTH if is_smooth else PLAIN
        """The sample points in segments without ease."""
        self._eased = EASED
        self._draft_size: DraftSize | None = None
        self._known = known
        self._kind = f"{requests[0].representation} {is_cubic}".encode()

    def handles(self) -> list[Handles]:
        """Return the handles of each request."""
        count, channels = self._numbers.shape
        left, right = np.full((2, count, channels, 2), np.nan, dtype=np.float32)
        errors, error_frames = np.zeros((count, channels)), np.full((count, channels), np.nan)
        flips, jumps = np.ones(count), np.zeros(count, dtype=np.bool_)
        for segments in self._segment_groups():
            begin, (start, end), _ = segments
            fits = self._fitted(segments)
            flips[begin + 1], jumps[begin + 1] = fits.flips, fits.jumps
            errors[begin] = fits.errors.T
            error_frames[begin] = (start + fits.worst * (end - start)).T
            right[begin], left[begin + 1] = np.stack([fits.frames, fits.values], axis=-1).swapaxes(1, 2)
        first, last = self._tracks.first, self._tracks.last
        # Signs accumulate from the first key of each track. The values of a segment have the sign of its first key.
        signs = np.multiply.accumulate(flips)
        signs *= np.repeat(signs[first], last - first + 1)
        right[..., 1] *= signs[:, np.newaxis]
        left[1:, :, 1] *= signs[:-1, np.newaxis]
        arrays: tuple[Any, ...] = left, right, signs, errors, error_frames, jumps
        return [
            Handles(*(array[start:end] for array in arrays))
            for start, end in zip(first.tolist(), (last + 1).tolist(), strict=True)
        ]

    def _segment_groups(self) -> Iterator[Segments]:
        """Yield the segments to fit, in groups."""
        frames, parameters = self._tracks.frames, self._tracks.parameters
        count = max(1, _CHANNELS_TOGETHER // self._numbers.shape[1])
        for start in range(0, len(self._begin), count):
            begin = self._begin[start : start + count]
            eases = ease.normalised(parameters[4, begin], parameters[3, begin + 1])
            yield Segments(begin, np.stack([frames[begin], frames[begin + 1]]), np.stack(eases))

    def _fitted(self, segments: Segments) -> SegmentFits:
        """Fit segments with ease separately from the others, which are smoother."""
        ends = np.repeat([[0.0], [1.0]], len(segments.begin), axis=1)
        derivatives = self._evaluated(segments, ends, 1).swapaxes(0, 1)
        is_eased = segments.eases.any(axis=0)
        if not is_eased.any():
            return self._fit_unless_known(segments, derivatives, self._plain)
        if is_eased.all():
            return self._fit_unless_known(segments, derivatives, self._eased)
        kinds = [(np.flatnonzero(~is_eased), self._plain), (np.flatnonzero(is_eased), self._eased)]
        fits: list[Any] = [
            self._fit_unless_known(segments.take(rows), derivatives[..., rows], points) for rows, points in kinds
        ]
        order = np.argsort(np.concatenate([rows for rows, _ in kinds]))
        return SegmentFits(*(np.concatenate(pair, axis=-1)[..., order] for pair in zip(*fits, strict=True)))

    def _fit_unless_known(self, segments: Segments, derivatives: Float64Array, points: SamplePoints) -> SegmentFits:
        """Return the fit of each segment, from the cache if possible."""
        if self._known is None or points is CUBIC:
            return self._fit(segments, self._sampled(segments, points.at), derivatives, points)
        # A NumPy call costs the same for one segment as for many.
        exact = self._sampled(segments, points.at) if len(segments.begin) <= _FEW else None
        if exact is None:
            probes = self._sampled(segments, points.at[_PROBES])
        else:
            probes = np.concatenate([exact[:, :1], exact[:, 1:-1][:, _PROBES], exact[:, -1:]], axis=1)
        fit_inputs = (
            segments.frames,
            segments.eases,
            self._numbers[segments.begin].T,
            self._numbers[segments.begin + 1].T,
            derivatives,
            probes,
        )
        names = [self._kind + data for data in row_bytes(SegmentFits.rows_of(fit_inputs))]
        unknown = self._known.missing(names)
        if unknown:
            unknown_segments = segments.take(np.array(unknown))
            values = self._sampled(unknown_segments, points.at) if exact is None else exact[..., unknown]
            fits = self._fit(unknown_segments, values, derivatives[..., unknown], points)
            self._known.learn([names[index] for index in unknown], SegmentFits.rows_of(fits))
        return SegmentFits.of_rows(self._known.recall(names), self._numbers.shape[1])

    def _fit(
        self, segments: Segments, exact: Float64Array, derivatives: Float64Array, points: SamplePoints
    ) -> SegmentFits:
        """Return the fit of each segment, from its derivatives and from exact values at the samples and both ends."""
        course, shape, flips, jumps = self._shaped(segments, exact, derivatives, points)
        stored = _StoredHandles.of(segments, course, shape)
        played = stored.played(parameters_at(points.at, stored.rise))
        sampled_errors = self._errors(played, course.values, exact[:, 1:-1])
        errors, worst = maxima(sampled_errors, points.at)
        if points is EASED or points is PLAIN:
            errors, worst = self._maxima_around_peaks(segments, stored, sampled_errors, points.at)
        if self._representation is not None:
            rough = np.flatnonzero(errors[0] > _ROUGH)
            if len(rough):
                errors[:, rough], worst[:, rough] = self._maxima_at_many_points(segments, course, shape, rough)
            # Orientations are never more than half a turn apart, but the maxima of parabolas may exceed half a turn.
            errors = np.fmin(errors, np.pi)
        size = (2, self._numbers.shape[1], len(segments.begin))
        frames, values = stored.frames.reshape(size), stored.values.reshape(size)
        return SegmentFits(flips, jumps.astype(np.float64), errors, worst, frames, values)

    def _shaped(
        self, segments: Segments, exact: Float64Array, derivatives: Float64Array, points: SamplePoints
    ) -> tuple[Course, Shape, Float64Array, BoolArray]:
        """Return the course and fitted handles, signs at segment ends, and a mask of segments that miss their end."""
        course, flips, jumps = self._course(segments, exact, derivatives, points)
        still = np.ones_like(jumps) if points is CUBIC else jumps
        still = still if course.turns else np.tile(still, self._numbers.shape[1])
        return course, fitted_shape(course, still, points, self._draft_size), flips, jumps

    def _course(
        self, segments: Segments, exact: Float64Array, derivatives: Float64Array, points: SamplePoints
    ) -> tuple[Course, Float64Array, BoolArray]:
        """Return the channels' exact motion, the signs at segment ends, and a mask of segments that miss their end."""
        (begin, _, eases), representation = segments, self._representation
        keys = np.stack([self._numbers[begin].T, self._numbers[begin + 1].T])
        # An eased segment is at rest at the key. See docs/formulas, "Ease".
        speeds = np.where(eases > 0.0, 0.0, 2.0 / (2.0 - eases.sum(axis=0)))[:, np.newaxis]
        stiffness = stiffness_of(eases, exact=representation is None or representation.homogeneous)
        if representation is None:
            course = Course(keys, exact[:, 1:-1], derivatives * speeds, derivatives, eases, stiffness)
            return course.apart(), np.ones(len(begin)), np.zeros(len(begin), dtype=np.bool_)
        lengths, zeros = np.stack([representation.lengths(numbers) for numbers in keys]), np.zeros(len(begin))
        length_change = lengths[1] - lengths[0]
        # An axis of length 0 has no direction, so the axis of the motion is used there.
        has_direction = lengths[0] > 0.0
        unit, _ = representation.scaled(keys[0], keys[0], 1.0 / np.where(has_direction, lengths[0], 1.0), zeros)
        unit = np.where(has_direction, unit, representation.local(exact[:, 0], derivatives[0]))
        numbers = representation.following(unit, exact[:, 0], exact[:, 1:])
        values = numbers[:, :-1]
        if not representation.homogeneous:
            sample_lengths = lengths[0] + points.at[:, np.newaxis] * length_change
            values, _ = representation.scaled(values, values, sample_lengths, np.zeros_like(sample_lengths))
        rates, path = np.empty_like(keys), np.empty_like(keys)
        for side, (end_numbers, q) in enumerate(((unit, exact[:, 0]), (numbers[:, -1], exact[:, -1]))):
            natural = representation.rates(end_numbers, q, derivatives[side])
            end_values, path[side] = representation.scaled(end_numbers, natural, lengths[side], length_change)
            _, rates[side] = representation.scaled(end_numbers, natural * speeds[side], lengths[side], length_change)
        # The loop ends with the values at which the motion arrives at the end key.
        flips, jumps = np.ones(len(begin)), np.zeros(len(begin), dtype=np.bool_)
        if representation.homogeneous:
            flips = np.where(sphere.dot(end_values, keys[1]) < 0.0, -1.0, 1.0)
            keys[1] *= flips
            return Course(keys, values, rates, path, eases, stiffness), flips, jumps
        jumps = (np.abs(end_values - keys[1]) > JUMP).any(axis=0)
        return Course(keys, values, rates, path, eases, stiffness).apart(), flips, jumps

    def _errors(self, played: Float64Array, values: Float64Array, exact: Float64Array) -> Float64Array:
        """Return the deviation of the played motion at m points, shape (channels, m, N), or (1, m, N) for rotations.

        `values` are the exact channel values, and `exact` are the values of the spline. Rotations use only `exact`.
        """
        representation = self._representation
        count = self._numbers.shape[1]
        if representation is None:
            return np.abs(played - values).reshape(played.shape[1], count, -1).swapaxes(0, 1)
        channels = played if representation.homogeneous else played.reshape(played.shape[1], count, -1).swapaxes(0, 1)
        return angles_apart(representation, channels, exact)[np.newaxis]

    def _maxima_around_peaks(
        self, segments: Segments, stored: _StoredHandles, errors: Float64Array, sampled_at: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return the largest errors and their parameters, from additional points around the highest peaks."""
        channels, _, count = errors.shape
        rows = highest_peaks(errors, _PEAKS).swapaxes(0, 1)
        with_ends = np.concatenate(([0.0], sampled_at, [1.0]))
        low, step = with_ends[rows], (with_ends[rows + 2] - with_ends[rows]) / _POINTS_PER_PEAK
        steps = np.arange(0.5, _POINTS_PER_PEAK)
        parameters = low[:, np.newaxis] + step[:, np.newaxis] * steps[:, np.newaxis, np.newaxis]
        parameters = parameters.reshape(_PEAKS * _POINTS_PER_PEAK, channels * count)
        by_channel = segments.take(np.tile(np.arange(count), channels))
        exact = values = self._evaluated(by_channel, _eased(by_channel, parameters.copy()), 0)
        if self._representation is None:
            # Each channel has its own points, at which only its own value of the spline is used.
            values = np.take_along_axis(exact, np.repeat(np.arange(channels), count)[np.newaxis, np.newaxis], axis=0)
        # The channels of a rotation share one error and the same points, but angle channels have separate columns.
        columns = stored.rise.shape[3] // parameters.shape[1]
        played = stored.played(parameters_at(np.tile(parameters, columns), stored.rise))
        errors_of_peaks = self._errors(played, values, exact).reshape(channels * _PEAKS, _POINTS_PER_PEAK, count)
        peak_errors, worst_steps = (array.reshape(channels, _PEAKS, count) for array in maxima(errors_of_peaks, steps))
        worst = low.swapaxes(0, 1) + worst_steps * step.swapaxes(0, 1)
        highest = peak_errors.argmax(axis=1)[:, np.newaxis]
        largest, worst = (np.take_along_axis(array, highest, axis=1)[:, 0] for array in (peak_errors, worst))
        return largest, worst

    def _maxima_at_many_points(
        self, segments: Segments, course: Course, shape: Shape, rough: IndexArray
    ) -> tuple[Float64Array, Float64Array]:
        """Return the largest errors of some rotation segments and their parameters, from many more points."""
        rough_segments, count = segments.take(rough), course.keys.shape[2] // len(segments.begin)
        columns = (np.arange(count)[:, np.newaxis] * len(segments.begin) + rough).ravel()
        stored = _StoredHandles.of(rough_segments, course.take(columns), shape.take(columns))
        played = stored.played(parameters_at(_FINE, stored.rise))
        exact = self._sampled(rough_segments, _FINE)[:, 1:-1]
        return maxima(self._errors(played, played, exact), _FINE)

    def _sampled(self, segments: Segments, parameters: Float64Array) -> Float64Array:
        """Return the spline's values (a, m + 2, N) at the segments' starts, at m points, and at their ends."""
        with_ends = np.concatenate(([0.0], parameters, [1.0]))[:, np.newaxis]
        return self._evaluated(segments, _eased(segments, np.repeat(with_ends, len(segments.begin), axis=1)), 0)

    def _evaluated(self, segments: Segments, w: Float64Array, nu: int) -> Float64Array:
        """Return the spline's values or derivatives (a, m, N) at eased local parameters (m, N)."""
        segment, flat = np.tile(segments.begin, len(w)), w.ravel()
        blocks = (slice(start, start + BLOCK) for start in range(0, len(flat), BLOCK))
        values = np.concatenate([self._curve.evaluate(segment[block], flat[block], nu) for block in blocks], axis=1)
        return values.reshape(len(values), *w.shape)


class _StoredHandles(NamedTuple):
    """The float32 handles of N columns, and their cubics."""

    frames: Float32Array
    """The handles after the start and before the end, shape (2, c, N)."""
    values: Float32Array
    rise: Float64Array
    """The coefficients of the frame relative to the segment, as returned by `frame_powers`."""
    powers: Float64Array
    """The coefficients of the value."""
    begin: Float64Array
    """The value at the start, shape (c, N)."""

    @classmethod
    def of(cls, segments: Segments, course: Course, shape: Shape) -> _StoredHandles:
        """Return the handles of each column."""
        frames, values = float32_handles(segments, course, shape)
        keys = course.keys.astype(np.float32).astype(np.float64)
        powers = bezier_powers(keys[1] - keys[0], values[0] - keys[0], keys[1] - values[1])
        return cls(frames, values, frame_powers(_reach(segments, frames)), powers, keys[0])

    def played(self, parameter: Float64Array) -> Float64Array:
        """Return the values at parameters (c, m, N)."""
        return rise_at(self.powers, parameter) + self.begin[:, np.newaxis]


def float32_handles(segments: Segments, course: Course, shape: Shape) -> tuple[Float32Array, Float32Array]:
    """Return the float32 frames and values (2, c, N) of the handles."""
    start, end = np.tile(segments.frames, course.keys.shape[2] // len(segments.begin))
    length = end - start
    frames = np.stack([start + shape.reach[0] * length, end - shape.reach[1] * length]).astype(np.float32)
    leaving, arriving = _reach(segments, frames) * shape.rates
    return frames, np.stack([course.keys[0] + leaving, course.keys[1] - arriving]).astype(np.float32)


def _reach(segments: Segments, frames: Float32Array) -> Float64Array:
    """Return the reach of handles at these frames relative to the segment, shape (2, c, N)."""
    start, end = np.tile(segments.frames, frames.shape[2] // len(segments.begin))
    length = end - start
    return np.stack([(frames[0] - start) / length, (end - frames[1]) / length])


def _eased(segments: Segments, parameters: Float64Array) -> Float64Array:
    """Ease local parameters (m, N) in place, and return them."""
    if (eased := np.flatnonzero(segments.eases.any(axis=0))).size:
        parameters[:, eased] = eased_share(parameters[:, eased], *segments.eases[:, eased])
    return parameters
