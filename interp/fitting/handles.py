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
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .. import ease
from ..base_spline import BLOCK
from ..key_batch import BoolArray, IndexArray
from ..keys import Float32Array, Float64Array
from ..rotations import sphere
from ..rotations.representations import JUMP
from .bezier_segments import bezier_powers, frame_powers, parameters_at, rise_at
from .handle_shapes import (
    CUBIC,
    EASED,
    EASED_DRAFT,
    PLAIN,
    SMOOTH,
    Course,
    DraftSize,
    Places,
    Shape,
    chebyshev,
    eased_share,
    fitted_shape,
    stiffness_of,
)
from .largest_error import angles_apart, parabola
from .request_batches import batch, in_batches
from .requests import Request

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
_TOPS = 3
"""The number of highest error peaks that are measured again, between the samples on both sides of each peak.

Peaks are narrow where handles are so long that the frame hardly rises, and where an ease ends.
"""
_AGAIN = 8
"""The number of points at which each peak is measured again."""
_SAMPLED = 2048
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


class KnownFits:
    """A cache of segment fits by input. `fit_handles` does not repeat a cached fit.

    Cubic segments are not cached, because their handles need no search.

    Parameters
    ----------
    most : int
        The maximum number of fits. If there are more fits, the older half is dropped. A fit takes two thirds of a
        kilobyte.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._rows: dict[bytes, bytes] = {}

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self._rows)

    def missing(self, names: Sequence[bytes]) -> list[int]:
        """Return the index of the first occurrence of each unknown name."""
        rows = self._rows
        unknown = [place for place, name in enumerate(names) if name not in rows]
        return sorted({names[place]: place for place in reversed(unknown)}.values())

    def learn(self, names: Sequence[bytes], rows: Float64Array) -> None:
        """Store a row of numbers for each name."""
        self._rows.update(zip(names, _raw_rows(rows), strict=True))

    def recall(self, names: Sequence[bytes]) -> Float64Array:
        """Return the rows of known names, shape (names, numbers), and drop the oldest rows if there are too many."""
        # Joining the rows as bytes avoids creating an array for each row, which would take longer.
        rows = np.frombuffer(bytearray().join([self._rows[name] for name in names])).reshape(len(names), -1)
        if len(self._rows) > self._most:
            self._rows = dict([*self._rows.items()][-(self._most // 2) :])
        return rows


def _raw_rows(rows: Float64Array) -> list[bytes]:
    """Return the bytes of each row."""
    size, raw = rows.itemsize * rows.shape[1], rows.tobytes()
    return [raw[start : start + size] for start in range(0, len(raw), size)]


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
    return in_batches(requests, lambda group: _Fitting(group, known).handles())


class _Segments(NamedTuple):
    """The N segments that are fitted together."""

    begin: IndexArray
    """The keys at which the segments begin, shape (N,)."""
    frames: Float64Array
    """The frames at which the segments begin and end, shape (2, N)."""
    eases: Float64Array
    """`ease_from` of the start and `ease_to` of the end, shape (2, N)."""

    def take(self, columns: IndexArray) -> _Segments:
        return _Segments(self.begin[columns], self.frames[:, columns], self.eases[:, columns])


class _SegmentFits(NamedTuple):
    """The fit of N segments. There is one error per channel, or one for all c channels."""

    flips: Float64Array
    """-1 where the end key must be negated, otherwise 1, shape (N,)."""
    jumps: Float64Array
    """1 where channels do not arrive with the values of the end key, otherwise 0, shape (N,)."""
    errors: Float64Array
    """The maximum errors, shape (c or 1, N)."""
    places: Float64Array
    """The local parameters of the maximum errors, shape (c or 1, N)."""
    frames: Float32Array
    """The handles after the start and before the end, shape (2, c, N)."""
    values: Float32Array

    @staticmethod
    def rows_of(arrays: Sequence[Float64Array | Float32Array]) -> Float64Array:
        """Return all numbers of each segment as a row, shape (N, numbers). Segments are on the last axis of arrays."""
        rows = np.concatenate([array.reshape(-1, array.shape[-1]) for array in arrays]).T
        return np.ascontiguousarray(rows, dtype=np.float64)

    @classmethod
    def of_rows(cls, rows: Float64Array, channels: int) -> _SegmentFits:
        """Return the fit from the rows that `rows_of` returns."""
        handles = rows[:, -4 * channels :].T.reshape(2, 2, channels, -1).astype(np.float32)
        errors, places = np.split(rows[:, 2 : -4 * channels].T, 2)
        return cls(rows[:, 0], rows[:, 1], errors, places, *handles)


class _Fitting:
    """Requests with the same batch and representation."""

    def __init__(self, requests: Sequence[Request], known: KnownFits | None) -> None:
        self._representation, self._tracks, self._curve, self._numbers, self._chosen = batch(requests)
        representation, is_cubic = self._representation, requests[0].spline.is_cubic and self._representation is None
        is_smooth = representation is not None and representation.homogeneous
        self._plain = CUBIC if is_cubic else SMOOTH if is_smooth else PLAIN
        """The samples of segments without ease."""
        self._eased = EASED
        self._draft_size: DraftSize | None = None
        self._known = known
        self._kind = f"{requests[0].representation} {is_cubic}".encode()

    def handles(self) -> list[Handles]:
        """Return the handles of each request."""
        count, channels = self._numbers.shape
        left, right = np.full((2, count, channels, 2), np.nan, dtype=np.float32)
        errors, worst = np.zeros((count, channels)), np.full((count, channels), np.nan)
        flips, jumps = np.ones(count), np.zeros(count, dtype=np.bool_)
        for part in self._parts():
            begin, (start, end), _ = part
            fitted = self._fitted(part)
            flips[begin + 1], jumps[begin + 1] = fitted.flips, fitted.jumps
            errors[begin] = fitted.errors.T
            worst[begin] = (start + fitted.places * (end - start)).T
            places = np.stack([fitted.frames, fitted.values], axis=-1).swapaxes(1, 2)
            right[begin], left[begin + 1] = places
        first, last = self._tracks.first, self._tracks.last
        # Signs accumulate from the first key of each track. The values of a segment have the sign of its first key.
        signs = np.multiply.accumulate(flips)
        signs *= np.repeat(signs[first], last - first + 1)
        right[..., 1] *= signs[:, np.newaxis]
        left[1:, :, 1] *= signs[:-1, np.newaxis]
        owns = (slice(*ends) for ends in zip(first.tolist(), (last + 1).tolist(), strict=True))
        return [Handles(left[own], right[own], signs[own], errors[own], worst[own], jumps[own]) for own in owns]

    def _parts(self) -> Iterator[_Segments]:
        """Yield the segments to fit, in groups."""
        frames, parameters = self._tracks.frames, self._tracks.parameters
        count = max(1, _SAMPLED // self._numbers.shape[1])
        for start in range(0, len(self._chosen), count):
            begin = self._chosen[start : start + count]
            eases = ease.normalised(parameters[4, begin], parameters[3, begin + 1])
            yield _Segments(begin, np.stack([frames[begin], frames[begin + 1]]), np.stack(eases))

    def _fitted(self, part: _Segments) -> _SegmentFits:
        """Fit segments with ease separately from the others, which are smoother."""
        derivatives = self._evaluated(part, np.repeat([[0.0], [1.0]], len(part.begin), axis=1), 1).swapaxes(0, 1)
        eased = part.eases.any(axis=0)
        if not eased.any():
            return self._fit_unless_known(part, derivatives, self._plain)
        if eased.all():
            return self._fit_unless_known(part, derivatives, self._eased)
        kinds = [(np.flatnonzero(~eased), self._plain), (np.flatnonzero(eased), self._eased)]
        fits: list[Any] = [
            self._fit_unless_known(part.take(rows), derivatives[..., rows], places) for rows, places in kinds
        ]
        order = np.argsort(np.concatenate([rows for rows, _ in kinds]))
        return _SegmentFits(*(np.concatenate(pair, axis=-1)[..., order] for pair in zip(*fits, strict=True)))

    def _fit_unless_known(self, part: _Segments, derivatives: Float64Array, places: Places) -> _SegmentFits:
        """Return the fit of each segment, from the cache if possible."""
        if self._known is None or places is CUBIC:
            return self._fit(part, self._sampled(part, places.at), derivatives, places)
        # A NumPy call costs the same for one segment as for many.
        exact = self._sampled(part, places.at) if len(part.begin) <= _FEW else None
        probes = self._sampled(part, places.at[_PROBES]) if exact is None else exact[:, _probed(places)]
        about = (
            part.frames,
            part.eases,
            self._numbers[part.begin].T,
            self._numbers[part.begin + 1].T,
            derivatives,
            probes,
        )
        rows = _SegmentFits.rows_of(about)
        names = [self._kind + raw for raw in _raw_rows(rows)]
        new = self._known.missing(names)
        if new:
            rest = part.take(np.array(new))
            values = self._sampled(rest, places.at) if exact is None else exact[..., new]
            fresh = self._fit(rest, values, derivatives[..., new], places)
            self._known.learn([names[place] for place in new], _SegmentFits.rows_of(fresh))
        return _SegmentFits.of_rows(self._known.recall(names), self._numbers.shape[1])

    def _fit(self, part: _Segments, exact: Float64Array, derivatives: Float64Array, places: Places) -> _SegmentFits:
        """Return the fit of each segment, from its derivatives and from exact values at the samples and both ends."""
        channels = self._numbers.shape[1]
        course, shape, flips, jumps = self._shaped(part, exact, derivatives, places)
        stored = _Stored.of(part, course, shape)
        parameter = parameters_at(places.at, stored.rise)
        off = self._off(stored.played(parameter), course.values, exact[:, 1:-1])
        errors, worst = _tops(off, places.at)
        if places is EASED or places is PLAIN:
            errors, worst = self._measured_again(part, stored, off, places.at)
        if self._representation is not None:
            rough = np.flatnonzero(errors[0] > _ROUGH)
            if len(rough):
                errors[:, rough], worst[:, rough] = self._measured_finely(part, course, shape, rough)
            # Orientations are never more than half a turn apart, but the maxima of parabolas may exceed half a turn.
            errors = np.fmin(errors, np.pi)
        size = (2, channels, len(part.begin))
        frames, values = stored.frames.reshape(size), stored.values.reshape(size)
        return _SegmentFits(flips, jumps.astype(np.float64), errors, worst, frames, values)

    def _shaped(
        self, part: _Segments, exact: Float64Array, derivatives: Float64Array, places: Places
    ) -> tuple[Course, Shape, Float64Array, BoolArray]:
        """Return the course and fitted handles, signs at segment ends, and a mask of segments that miss their end."""
        course, flips, jumps = self._course(part, exact, derivatives, places)
        still = np.ones_like(jumps) if places is CUBIC else jumps
        still = still if course.turns else np.tile(still, self._numbers.shape[1])
        return course, fitted_shape(course, still, places, self._draft_size), flips, jumps

    def _measured_finely(
        self, part: _Segments, course: Course, shape: Shape, rough: IndexArray
    ) -> tuple[Float64Array, Float64Array]:
        """Return the largest errors of rotation segments and their parameters, from many more points."""
        some, count = part.take(rough), course.keys.shape[2] // len(part.begin)
        columns = (np.arange(count)[:, np.newaxis] * len(part.begin) + rough).ravel()
        own, fitted = course.take(columns), shape.take(columns)
        stored = _Stored.of(some, own, fitted)
        played = stored.played(parameters_at(_FINE, stored.rise))
        return _tops(self._off(played, played, self._sampled(some, _FINE)[:, 1:-1]), _FINE)

    def _measured_again(
        self, part: _Segments, stored: _Stored, off: Float64Array, places: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return the largest errors and their parameters, from additional points around the highest peaks."""
        channels, _, count = off.shape
        rows = _highest(off).swapaxes(0, 1)
        around = np.concatenate(([0.0], places, [1.0]))
        low, step = around[rows], (around[rows + 2] - around[rows]) / _AGAIN
        among = np.arange(0.5, _AGAIN)
        at = low[:, np.newaxis] + step[:, np.newaxis] * among[:, np.newaxis, np.newaxis]
        at = at.reshape(_TOPS * _AGAIN, channels * count)
        some = part.take(np.tile(np.arange(count), channels))
        exact = own = self._evaluated(some, _eased(some, at.copy()), 0)
        if self._representation is None:
            # Each channel has its own points, at which only its own value of the spline is used.
            own = np.take_along_axis(exact, np.repeat(np.arange(channels), count)[np.newaxis, np.newaxis], axis=0)
        # The channels of a rotation share one error and the same points, but angle channels have separate columns.
        parameter = parameters_at(np.tile(at, stored.rise.shape[3] // at.shape[1]), stored.rise)
        again = self._off(stored.played(parameter), own, exact).reshape(channels * _TOPS, _AGAIN, count)
        errors, worst = (each.reshape(channels, _TOPS, count) for each in _tops(again, among))
        highest = errors.argmax(axis=1)[:, np.newaxis]
        worst = low.swapaxes(0, 1) + worst * step.swapaxes(0, 1)
        errors, worst = (np.take_along_axis(each, highest, axis=1)[:, 0] for each in (errors, worst))
        return errors, worst

    def _evaluated(self, part: _Segments, w: Float64Array, nu: int) -> Float64Array:
        """Return the spline's values or derivatives (a, m, N) at eased local parameters (m, N)."""
        segment, flat = np.tile(part.begin, len(w)), w.ravel()
        blocks = (slice(start, start + BLOCK) for start in range(0, len(flat), BLOCK))
        values = np.concatenate([self._curve.evaluate(segment[block], flat[block], nu) for block in blocks], axis=1)
        return values.reshape(len(values), *w.shape)

    def _sampled(self, part: _Segments, places: Float64Array) -> Float64Array:
        """Return the spline's values (a, m + 2, N) at the segments' starts, at m points, and at their ends."""
        w = np.repeat(np.concatenate(([0.0], places, [1.0]))[:, np.newaxis], len(part.begin), axis=1)
        return self._evaluated(part, _eased(part, w), 0)

    def _course(
        self, part: _Segments, exact: Float64Array, derivatives: Float64Array, places: Places
    ) -> tuple[Course, Float64Array, BoolArray]:
        """Return the channels' exact motion, the signs at segment ends, and a mask of segments that miss their end."""
        (begin, _, eases), representation = part, self._representation
        keys = np.stack([self._numbers[begin].T, self._numbers[begin + 1].T])
        flips, jumps = np.ones(len(begin)), np.zeros(len(begin), dtype=np.bool_)
        speeds = np.where(eases > 0.0, 0.0, 2.0 / (2.0 - eases.sum(axis=0)))[:, np.newaxis]
        stiffness = stiffness_of(eases, exact=representation is None or representation.homogeneous)
        if representation is None:
            course = Course(keys, exact[:, 1:-1], derivatives * speeds, derivatives, eases, stiffness)
            return course.apart(), flips, jumps
        start, end = np.stack([representation.lengths(each) for each in keys])
        # An axis of length 0 has no direction, so the axis of the motion is used there.
        named = start > 0.0
        unit, _ = representation.scaled(keys[0], keys[0], 1.0 / np.where(named, start, 1.0), np.zeros_like(start))
        unit = np.where(named, unit, representation.local(exact[:, 0], derivatives[0]))
        numbers = representation.following(unit, exact[:, 0], exact[:, 1:])
        change = end - start
        values = numbers[:, :-1]
        if not representation.homogeneous:
            lengths = start + places.at[:, np.newaxis] * change
            values, _ = representation.scaled(values, values, lengths, np.zeros_like(lengths))
        path, rates = np.empty_like(keys), np.empty_like(keys)
        ends = (unit, exact[:, 0], start), (numbers[:, -1], exact[:, -1], end)
        for side, (own, q, length) in enumerate(ends):
            natural = representation.rates(own, q, derivatives[side])
            arriving, path[side] = representation.scaled(own, natural, length, change)
            _, rates[side] = representation.scaled(own, natural * speeds[side], length, change)
        if representation.homogeneous:
            flips = np.where(sphere.dot(arriving, keys[1]) < 0.0, -1.0, 1.0)
            keys[1] *= flips
        else:
            jumps = (np.abs(arriving - keys[1]) > JUMP).any(axis=0)
        course = Course(keys, values, rates, path, eases, stiffness)
        return course if representation.homogeneous else course.apart(), flips, jumps

    def _off(self, played: Float64Array, values: Float64Array, exact: Float64Array) -> Float64Array:
        """Return the deviation of the played motion at m points, shape (channels, m, N), or (1, m, N) for rotations.

        `values` are the exact channel values, and `exact` are the values of the spline. Rotations use only `exact`.
        """
        representation = self._representation
        count = self._numbers.shape[1]
        if representation is None:
            return np.abs(played - values).reshape(played.shape[1], count, -1).swapaxes(0, 1)
        channels = played if representation.homogeneous else played.reshape(played.shape[1], count, -1).swapaxes(0, 1)
        return angles_apart(representation, channels, exact)[np.newaxis]


_MANY = 400
"""A draft of at least this many columns takes no additional steps."""


class Draft(NamedTuple):
    """Drafted handles for N segments with c channels."""

    right: Float32Array
    """The frame and value of the handles after the first keys of segments, shape (N, c, 2)."""
    left: Float32Array
    """The frame and value of the handles before the last keys, with the sign of the first key."""
    flips: Float64Array
    """-1 where the last key must be negated relative to the first key, otherwise 1, shape (N,)."""


class HandleDrafts(_Fitting):
    """Repeated drafts of the same handles while a drag changes the parameters.

    Data that does not depend on the parameters is prepared once. A draft takes one descent step, and more steps for
    large errors if there are few segments. A draft does not measure errors, and takes at most a third as long as a fit.

    Parameters
    ----------
    requests : sequence of Request
        Requests with the same representation, whose splines have the same `batch`.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        super().__init__(requests, None)
        self._splines = [request.spline for request in requests]
        plain = self._plain
        self._plain = plain if plain is CUBIC else Places(plain.at[plain.nodes], slice(None))
        self._eased = EASED_DRAFT
        columns = len(self._chosen) * (1 if requests[0].representation == "QUATERNION" else self._numbers.shape[1])
        self._draft_size = "MANY" if columns > _MANY else "FEW"

    @property
    def segments(self) -> IndexArray:
        """Return the first key of each segment, as an index into the keys of all requests, shape (N,)."""
        return self._chosen

    @property
    def parameters(self) -> Float64Array:
        """Return the parameters of the keys of all requests, shape (5, keys)."""
        return self._tracks.parameters

    def fitted(self, parameters: Float64Array) -> Draft:
        """Return the handles for key parameters of shape (5, keys)."""
        self._tracks = replace(self._tracks, parameters=parameters)
        self._curve = type(self._splines[0]).curve(self._splines, self._tracks)
        fits = [self._fitted(part) for part in self._parts()]
        frames, values = (np.concatenate([fit[at] for fit in fits], axis=-1) for at in (-2, -1))
        right, left = np.stack([frames, values], axis=-1).swapaxes(1, 2)
        return Draft(right, left, np.concatenate([fit.flips for fit in fits]))

    def _fit(self, part: _Segments, exact: Float64Array, derivatives: Float64Array, places: Places) -> _SegmentFits:
        course, shape, flips, _ = self._shaped(part, exact, derivatives, places)
        frames, values = _placed(part, course, shape)
        size, none = (2, self._numbers.shape[1], len(part.begin)), np.zeros((1, len(part.begin)))
        return _SegmentFits(flips, none[0], none, none, frames.reshape(size), values.reshape(size))


def _probed(places: Places) -> IndexArray:
    """Return the indices of the probes and the ends among samples that include the ends."""
    inner = np.arange(1, len(places.at) + 1)
    return np.concatenate(([0], inner[_PROBES], [len(inner) + 1]))


class _Stored(NamedTuple):
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
    def of(cls, part: _Segments, course: Course, shape: Shape) -> _Stored:
        """Return the handles of each column."""
        frames, values = _placed(part, course, shape)
        keys = course.keys.astype(np.float32).astype(np.float64)
        powers = bezier_powers(keys[1] - keys[0], values[0] - keys[0], keys[1] - values[1])
        return cls(frames, values, frame_powers(_reach(part, frames)), powers, keys[0])

    def played(self, parameter: Float64Array) -> Float64Array:
        """Return the values at parameters (c, m, N)."""
        return rise_at(self.powers, parameter) + self.begin[:, np.newaxis]


def _placed(part: _Segments, course: Course, shape: Shape) -> tuple[Float32Array, Float32Array]:
    """Return the float32 frames and values (2, c, N) of the handles."""
    start, end = np.tile(part.frames, course.keys.shape[2] // len(part.begin))
    length = end - start
    frames = np.stack([start + shape.reach[0] * length, end - shape.reach[1] * length]).astype(np.float32)
    leaving, arriving = _reach(part, frames) * shape.rates
    return frames, np.stack([course.keys[0] + leaving, course.keys[1] - arriving]).astype(np.float32)


def _reach(part: _Segments, frames: Float32Array) -> Float64Array:
    """Return the reach of handles at these frames relative to the segment, shape (2, c, N)."""
    start, end = np.tile(part.frames, frames.shape[2] // len(part.begin))
    length = end - start
    return np.stack([(frames[0] - start) / length, (end - frames[1]) / length])


def _eased(part: _Segments, shares: Float64Array) -> Float64Array:
    """Ease local parameters (m, N) in place, and return them."""
    if (eased := np.flatnonzero(part.eases.any(axis=0))).size:
        shares[:, eased] = eased_share(shares[:, eased], *part.eases[:, eased])
    return shares


def _highest(off: Float64Array) -> IndexArray:
    """Return the indices (c, _TOPS, N) of the highest peaks of errors (c, m, N), repeating the first if needed."""
    before, after = (np.zeros_like(off) for _ in range(2))
    before[:, 1:], after[:, :-1] = off[:, :-1], off[:, 1:]
    tops = np.where((off >= before) & (off > after), off, -1.0)
    rows = [off.argmax(axis=1)[:, np.newaxis]]
    for _ in range(_TOPS - 1):
        np.put_along_axis(tops, rows[-1], -1.0, axis=1)
        following = tops.argmax(axis=1)[:, np.newaxis]
        rows.append(np.where(np.take_along_axis(tops, following, axis=1) > 0.0, following, rows[0]))
    return np.concatenate(rows, axis=1)


def _tops(off: Float64Array, at: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the maxima (c, N) and parameters of parabolas through differences (c, m, N) at points (m,)."""
    row = np.argmax(off, axis=1)[:, np.newaxis]
    inner = np.clip(row, 1, len(at) - 2)
    before, largest, after = (np.take_along_axis(off, inner + step, axis=1)[:, 0] for step in (-1, 0, 1))
    row, inner = row[:, 0], inner[:, 0]
    slope, bend = parabola(at, inner, before, largest, after)
    ahead = np.divide(slope, 2.0 * bend, out=np.zeros_like(bend), where=(bend > 0.0) & (row == inner))
    top = np.where(
        row == inner, largest + 0.5 * slope * ahead, np.take_along_axis(off, row[:, np.newaxis], axis=1)[:, 0]
    )
    return top, at[row] + ahead
