# SPDX-License-Identifier: GPL-3.0-or-later
"""Construct a track's splines from the animator's keys, and list the keys that a method refuses."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import compress, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ....interp import Keys, KeysError, rotations
from ....interp.base_spline import Spline
from ....interp.piecewise import PiecewiseSpline
from ....interp.rotations.base_rotation_spline import splines_along_walks
from ....interp.splines import METHODS, tcb
from ...errors import AnimationError
from ...fcurves import scratch_curves
from ...fcurves.frames import SAME_FRAME, are_apart, union
from ...fcurves.keyframes import INTERPOLATION, BoolArray, Float32Array, Float64Array, IndexArray, end_to_end
from ...fcurves.segments import ChannelSegments
from ...memoize import memoized
from ...records import record
from ...store.own_keys import OwnKeys
from ...store.parameters import parameter_rows, read_velocities
from ...store.record_rows import plain_keys
from ...store.table.track_records import Settings
from ...store.tracks import Track

LARGEST_VALUE = 1e37
"""Upper limit for values. TCB overshoots by less than ten times the key values, and the largest float32 is 3.4e38."""
_LARGEST_PLAYED = 1e38
"""Upper limit for values between keys."""
_FASTEST = 1000.0
"""Maximum speed in radians per frame, more than a hundred turns per frame. Faster rotations can't be sampled."""
_CHECKED_PARAMETERS = np.arange(1, 8) / 8
"""Local parameters at which each segment's values are checked, for methods other than TCB."""
_ANGLE_ROUNDING = 1e-5
"""If an angle exceeds a half or whole turn by less than this, in radians, the excess is a rounding error."""


def check_frames(track: Track, frames: Float32Array) -> None:
    """Raise AnimationError if frames are not finite, or if two keys are at the same frame."""
    if are_apart(frames):
        return
    if not np.isfinite(frames).all():
        raise track.error("FRAME_NOT_FINITE")
    is_same = np.diff(frames) <= SAME_FRAME
    if is_same.any():
        raise track.error("TWO_KEYS_AT_FRAME", frame=float(frames[np.argmax(is_same)]))


def check_size(track: Track, frames: Float32Array, values: Float64Array) -> None:
    """Raise AnimationError if a value is large enough that the motion could exceed the float32 range.

    `Keys` checks for values that are not finite.
    """
    is_large = np.isfinite(values).all(axis=1) & (np.abs(values).max(axis=1) > LARGEST_VALUE)
    if is_large.any():
        raise track.error("VALUE_TOO_LARGE", frame=float(frames[np.argmax(is_large)]))


def check_finite(track: Track, frames: Float32Array, values: Float64Array) -> None:
    """Raise AnimationError if a channel value of a rotation is not finite."""
    is_finite = np.isfinite(values).all(axis=1)
    if not is_finite.all():
        raise track.error("VALUE_NOT_FINITE", frame=float(frames[np.argmin(is_finite)]))


def check_speed(track: Track, frames: Float32Array, velocities: Float64Array) -> None:
    """Raise AnimationError if an angular velocity is too high for the rotation to be visible."""
    is_fast = np.abs(velocities).max(axis=1, initial=0.0) > _FASTEST
    if is_fast.any():
        raise track.error("TOO_FAST", _FASTEST, frame=float(frames[np.argmax(is_fast)]))


def check_range(track: Track, spline: Spline, frames: Float32Array) -> None:
    """Raise AnimationError if a motion exceeds the float32 range.

    No other check limits the keys' velocities or the polynomials.
    """
    keys = frames.astype(np.float64)
    samples = keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * _CHECKED_PARAMETERS
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(spline(samples.ravel())).max(axis=1, initial=0.0)
    # NaN is also too far.
    is_far = ~(size.reshape(samples.shape) < _LARGEST_PLAYED).all(axis=1)
    if is_far.any():
        raise track.error("MOTION_TOO_FAR", frame=float(keys[np.argmax(is_far)]))


def check_turns(track: Track, frames: Float32Array, turns: Float64Array, limit: float, method: str) -> None:
    """Raise AnimationError if the angle between two keys exceeds the limit of the method, named by its label.

    `turns` contains the angles between keys in radians, shape (n - 1,). The error names the second key.
    """
    is_far = turns > limit + _ANGLE_ROUNDING
    if is_far.any():
        key = int(np.argmax(is_far))
        angles = float(np.degrees(turns[key])), float(np.degrees(limit))
        raise track.error("TURN_TOO_FAR", *angles, method, frame=float(frames[key + 1]))


def error_of_keys(
    track: Track, error: KeysError, frames: Float32Array, components: Sequence[int] = ()
) -> AnimationError:
    """Convert the error to an AnimationError with the frame of the key and the component of the track.

    `components` maps the components of the spline to the components of the track.
    """
    if components and error.component is not None:
        error = error.on_component(components[error.component])
    frame = error.frame if error.key is None else float(frames[error.key])
    return track.error("SPLINE", error.message, frame=frame)


_MakeSpline = Callable[[slice], tuple[Spline, Float64Array | None]]
"""Function that returns the spline of a slice of keys, with the angles between keys if they may exceed half a turn."""


@record()
class TrackSpline:
    """A spline that interpolates a track's rotation, or the components of a track that are keyed at the same frames."""

    components: list[int]
    frames: Float32Array
    """Frames of the keys, shape (n,)."""
    values: Float64Array
    """Channel values of the keys, shape (n, components)."""
    spline: Spline
    between: BoolArray
    """Mask of the keys that begin segments played by Blender, which separate the runs of the spline, shape (n,)."""
    make_spline: _MakeSpline | None = None
    """Function that creates the spline of a run. None if Blender plays no segment."""
    turns: Float64Array | None = None
    """Angles between keys in radians if they may exceed half a turn, shape (n - 1,)."""

    @cached_property
    def is_broken(self) -> bool:
        """Return whether Blender plays any segment."""
        return _plays_any(self.between)

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Return the largest range of any component's key values, and the largest absolute value of the keys."""
        values = self.spline.keys.values
        lowest, highest = np.minimum.reduce(values).tolist(), np.maximum.reduce(values).tolist()
        spread = max(high - low for low, high in zip(lowest, highest, strict=True))
        return spread, max(-min(lowest), *highest)

    @cached_property
    def runs(self) -> list[TrackSpline]:
        """Return one track spline per run."""
        return [self._run(rows) for rows in run_slices(self.between)]

    def run_of(self, row: int) -> tuple[TrackSpline, int]:
        """Return the run that contains a key, and the row of the key in the run."""
        rows = next(run for run in run_slices(self.between) if row < run.stop)
        return self._run(rows), row - rows.start

    def _run(self, rows: slice) -> TrackSpline:
        if not self.is_broken:
            return self
        assert self.make_spline is not None
        spline, turns = self.make_spline(rows)
        frames = self.frames[rows]
        none = np.zeros(len(frames), dtype=np.bool_)
        return TrackSpline(self.components, frames, self.values[rows], spline, none, self.make_spline, turns)


def last_place(numbers: npt.NDArray[np.floating]) -> Float64Array:
    """Return the distance from each number to the next float32."""
    steps: Float64Array = np.spacing(np.abs(numbers).astype(np.float32)).astype(np.float64)
    return steps


def track_splines(
    track: Track, settings: Settings, originals: Mapping[int, OwnKeys], defaults: Mapping[str, float]
) -> list[TrackSpline]:
    """Return the splines of the track. `defaults` contains the parameters of keys that have none of their own.

    Raises an AnimationError that names the key if the keys or their parameters do not define a spline.
    """
    components_by_keys: dict[bytes, list[int]] = {}
    for index, own in originals.items():
        components_by_keys.setdefault(own.shape, []).append(index)
    for first, *_ in components_by_keys.values():
        check_frames(track, originals[first].frames)
    if track.is_rotation:
        return [_rotation(track, settings, originals, defaults)]
    return [_vector(track, settings, originals, components, defaults) for components in components_by_keys.values()]


class SplineInput(NamedTuple):
    """The arguments of `track_splines`."""

    track: Track
    settings: Settings
    own: Mapping[int, OwnKeys]
    defaults: Mapping[str, float]


def splines_together(inputs: Sequence[SplineInput]) -> list[list[TrackSpline] | None]:
    """Return the splines of TCB tracks, or None for tracks whose keys `track_splines` must check.

    Creating the splines of tracks that differ only in values together is several times faster.
    """
    groups: dict[Hashable, list[int]] = {}
    for number, (track, settings, own, defaults) in enumerate(inputs):
        shapes = {keys.shape for keys in own.values()}
        has_known_path = track.kind != "QUATERNION" or settings.path == "SHORTEST"
        is_whole = not track.is_rotation or [*own] == [*range(len(track.rest))]
        if settings.method == Settings.method and len(shapes) == 1 and has_known_path and is_whole:
            choices = settings.cycle, settings.ends, settings.construction, settings.path
            group = track.kind, track.order, *choices, *own, *shapes, tuple(defaults.items())
            groups.setdefault(group, []).append(number)
    splines: list[list[TrackSpline] | None] = [None] * len(inputs)
    for numbers in groups.values():
        with suppress(AnimationError, KeysError):
            for number, spline in zip(numbers, _alike([inputs[number] for number in numbers]), strict=False):
                splines[number] = [spline]
    return splines


def _alike(inputs: Sequence[SplineInput]) -> Iterator[TrackSpline]:
    """Yield the spline of each track, or nothing if the keys need checks.

    The keys of all channels have the same frames and parameters.
    """
    track, settings, own, defaults = inputs[0]
    components, first = [*own], next(iter(own.values()))
    channels = [keys for each in inputs for keys in each.own.values()]
    if b"\1" in first.ends or not _are_small(channels):
        return
    frames, count = first.frames, len(inputs)
    check_frames(track, frames)
    parameters = parameter_rows(track, own, frames, defaults)
    by_channel = np.stack([keys.values for keys in channels]).reshape(count, len(components), len(frames))
    values = np.ascontiguousarray(by_channel.swapaxes(1, 2))
    rows, turns = values.reshape(-1, len(components)), None
    points = quaternions_of(track, rows).reshape(count, len(frames), 4) if track.is_rotation else values
    keys = [_keys(frames, track_points, parameters, are_small=True) for track_points in points]
    options: dict[str, Any] = {"ends": settings.ends, "construction": settings.construction}
    splines: list[Any]
    if not track.is_rotation:
        splines = [tcb.VectorSpline(track_keys, settings.cycle) for track_keys in keys]
    elif settings.path == "SHORTEST":
        splines = [tcb.RotationSpline(track_keys, settings.cycle, **options) for track_keys in keys]
    else:
        # Omit the walks from the last key of a track to the first key of the next track.
        walks = walk_of(track, rows)[np.arange(1, len(rows)) % len(frames) != 0].reshape(count, len(frames) - 1, 3)
        splines = splines_along_walks(tcb.RotationSpline, keys, walks, settings.cycle, **options)
        turns = np.linalg.norm(walks, axis=2)
    between = np.zeros(len(frames), dtype=np.bool_)
    for number, (track_values, spline) in enumerate(zip(values, splines, strict=True)):
        track_turns = None if turns is None else turns[number]
        yield TrackSpline(components, frames, track_values, spline, between, turns=track_turns)


def _pieces(between: BoolArray) -> list[slice]:
    """Return the keys of each spline as a slice. Consecutive single-key runs are combined to save time.

    The first and the last run stay separate, because the motion outside the keys continues from them.
    """
    runs = run_slices(between)
    pieces = runs[:1]
    for number, run in enumerate(runs[1:], start=1):
        previous = pieces[-1]
        is_single = run.stop - run.start == 1 and number < len(runs) - 1
        if is_single and number > 1 and bool(between[previous].all()):
            pieces[-1] = slice(previous.start, run.stop)
        else:
            pieces.append(run)
    return pieces


def _plays_any(between: BoolArray) -> bool:
    """Return whether Blender plays any segment. `any` would take four times as long."""
    return b"\1" in between[:-1].tobytes()


def run_slices(between: BoolArray) -> list[slice]:
    """Return the runs of keys that form splines.

    `between` is a mask of the keys that begin a segment played by Blender.
    """
    if not _plays_any(between):
        return [slice(0, len(between))]
    bounds = [0, *(np.flatnonzero(between[:-1]) + 1).tolist(), len(between)]
    return [slice(*ends) for ends in pairwise(bounds)]


def _vector(
    track: Track,
    settings: Settings,
    originals: Mapping[int, OwnKeys],
    components: list[int],
    defaults: Mapping[str, float],
) -> TrackSpline:
    own = {index: originals[index] for index in components}
    first = own[components[0]]
    frames, values = first.frames, _columns([*own.values()])
    are_small = _are_small(own.values())
    if not are_small:
        check_size(track, frames, values)
    spline_class = made_by(track, settings)
    between = first.ends_spline.copy()
    between[-1:] = False
    pieces = _pieces(between)

    def make_spline(run: slice) -> tuple[Spline, None]:
        options = _options(track, settings, own, frames[run])
        try:
            parameters = parameter_rows(track, own, frames[run], defaults)
            keys = _keys(frames[run], values[run], parameters, are_small)
            return spline_class(keys, settings.cycle if len(pieces) == 1 else "SINGLE", **options), None
        except KeysError as error:
            raise error_of_keys(track, error, frames[run], components) from error

    splines = [make_spline(piece)[0] for piece in pieces]
    spline: Spline = splines[0]
    if len(pieces) > 1:
        gaps = np.flatnonzero(between[:-1])
        spline = PiecewiseSpline(
            splines, _segments_between(own, frames, values, gaps), None, _cycle_of_runs(settings), gaps
        )
    if settings.method != Settings.method:
        check_range(track, spline, frames)
    return TrackSpline(components, frames, values, spline, between, make_spline)


def _are_small(own: Iterable[OwnKeys]) -> bool:
    """Return whether all values of the keys' F-curves are known to be small enough for a spline."""
    return all(keys.every.bound <= LARGEST_VALUE for keys in own)


def _columns(own: Sequence[OwnKeys]) -> Float64Array:
    """Return the values of channels keyed at the same frames, shape (n, channels)."""
    values = np.empty((len(own[0].identities), len(own)))
    for column, keys in enumerate(own):
        values[:, column] = keys.values
    return values


def _keys(frames: Float32Array, values: Float64Array, parameters: Float64Array, are_small: bool) -> Keys:
    """Return the keys of a spline at validated frames. If `are_small` is true, the values are also validated."""
    if are_small:
        return _at_frames(frames.astype(np.float64)).with_values(values, parameters)
    return Keys(frames.astype(np.float64), values, *parameters)


@memoized
def _at_frames(frames: Float64Array) -> Keys:
    """Return cached keys at the frames. Small values need no further checks, because no two frames are equal."""
    return Keys(frames, np.zeros(len(frames)))


def made_by(track: Track, settings: Settings) -> type[Any]:
    """Return the class of the track's splines. Raise AnimationError if the method does not support the track."""
    method = METHODS[settings.method]
    spline_class = method.rotations if track.is_rotation else method.values
    if spline_class is None:
        raise track.error("METHOD_FOR_VALUES" if track.is_rotation else "METHOD_FOR_ROTATIONS", method.label)
    return spline_class


def setting_names(track: Track, settings: Settings) -> tuple[str, ...]:
    """Return the names of the settings that the method's splines use, as in `Method`."""
    method = METHODS[settings.method]
    return method.rotation_options if track.is_rotation else method.value_options


def bends_by_parameters(track: Track, settings: Settings) -> bool:
    """Return whether tension, continuity and bias have an effect on the track. Ease always has an effect."""
    by_angles = "angles" in setting_names(track, settings)
    return (settings.angles if by_angles else settings.method) == Settings.method


def _options(track: Track, settings: Settings, own: Mapping[int, OwnKeys], frames: Float32Array) -> dict[str, Any]:
    """Return the keyword arguments of the method's class, other than keys and cycle."""
    options = {name: getattr(settings, name) for name in setting_names(track, settings) if name != "velocities"}
    if "velocities" in setting_names(track, settings):
        options["velocities"] = _velocities(track, own, frames)
    if "angles" in options:
        options["angles"] = METHODS[settings.angles]
    return options


def _velocities(track: Track, own: Mapping[int, OwnKeys], frames: Float32Array) -> Float64Array:
    """Return the keys' velocities.

    Raise AnimationError if an angular velocity is too high for the rotation to be visible.
    """
    velocities = read_velocities(track, own, frames)
    if not track.is_rotation:
        return velocities[:, list(own)]
    check_speed(track, frames, velocities)
    return velocities


def _rotation(
    track: Track, settings: Settings, originals: Mapping[int, OwnKeys], defaults: Mapping[str, float]
) -> TrackSpline:
    """Create the splines of a rotation, with keys at the union of its channels' frames."""
    components = list(range(len(track.rest)))
    frames, values = _whole_rotations(track, originals)
    between = _widened(originals, frames)
    pieces = _pieces(between)
    own_settings = settings if len(pieces) == 1 else replace(settings, cycle="SINGLE")

    def make_spline(run: slice) -> tuple[Spline, Float64Array | None]:
        is_between = _plays_any(between[run])
        return _rotation_spline(track, own_settings, originals, frames[run], values[run], defaults, is_between)

    splines, turns_of_splines = zip(*map(make_spline, pieces), strict=True)
    if len(pieces) == 1:
        return TrackSpline(components, frames, values, splines[0], between, make_spline, turns_of_splines[0])
    representation = track.order if track.kind == "EULER" else track.kind
    gaps = np.flatnonzero(between[:-1])
    segments = _segments_between({index: originals.get(index) for index in components}, frames, values, gaps)
    spline = PiecewiseSpline(list(splines), segments, representation, _cycle_of_runs(settings), gaps)
    # The spline does not define the rotation between two runs.
    turns = np.zeros(len(frames))
    for piece, turns_of_piece in zip(pieces, turns_of_splines, strict=True):
        if turns_of_piece is not None:
            turns[piece][:-1] = turns_of_piece
    return TrackSpline(components, frames, values, spline, between, make_spline, turns[:-1] if turns.any() else None)


def _whole_rotations(track: Track, originals: Mapping[int, OwnKeys]) -> tuple[Float32Array, Float64Array]:
    """Return the frames of all channels' keys, shape (n,), and the values of all components there, (n, components)."""
    count = len(track.rest)
    if [*originals] == [*range(count)] and len({own.timing for own in originals.values()}) == 1:
        return originals[0].frames, _columns([*originals.values()])
    frames = union([own.keys.frames for own in originals.values()])
    values = np.empty((len(frames), count))
    for index in range(count):
        own = originals.get(index)
        values[:, index] = track.component(index) if own is None else values_at(track, index, own, frames)
    return frames, values


def _cycle_of_runs(settings: Settings) -> Literal["SINGLE", "REPEAT"]:
    """Return the cycle of a spline with several runs.

    A loop with several runs is interrupted, so it becomes a repetition.
    """
    return "SINGLE" if settings.cycle == "SINGLE" else "REPEAT"


def _segments_between(
    own: Mapping[int, OwnKeys | None], frames: Float32Array, values: Float64Array, rows: IndexArray
) -> ChannelSegments:
    """Return the segments after the keys in `rows`, as Blender plays them with the animator's keys and handles.

    Components without such a segment are linear.
    """
    pattern = next(channel.keys for channel in own.values() if channel is not None)
    ends = np.stack((rows, rows + 1), axis=1).ravel()
    channels = []
    for channel, column in zip(own.values(), values.T, strict=True):
        linear = pattern.take(np.zeros(len(ends), dtype=np.intp)).with_(
            co=np.stack((frames[ends], column[ends]), axis=1),
            interpolation=np.full(len(ends), INTERPOLATION["LINEAR"], dtype=np.uint8),
        )
        keys = pattern if channel is None else plain_keys(channel)
        begin = np.searchsorted(keys.frames, frames[rows] + np.float32(SAME_FRAME), side="right") - 1
        has_segment = (begin >= 0) & (begin < len(keys) - 1) & (channel is not None)
        played = keys.take(np.clip(np.stack((begin, begin + 1), axis=1).ravel(), 0, len(keys) - 1))
        played_or_linear = np.arange(len(ends)) + np.where(np.repeat(has_segment, 2), 0, len(ends))
        channels.append(end_to_end([played, linear]).take(played_or_linear))
    return ChannelSegments.between(frames, rows, channels)


def _widened(own: Mapping[int, OwnKeys], frames: Float32Array) -> BoolArray:
    """Return a mask of a rotation's segments that overlap channel segments played by Blender.

    The mask is extended until it covers complete segments of all channels.
    """
    mask = np.zeros(len(frames), dtype=np.bool_)
    if not any(b"\1" in channel.ends for channel in own.values()):
        return mask
    if len({channel.timing for channel in own.values()}) == 1:
        mask[:-1] = np.logical_or.reduce([channel.ends_spline[:-1] for channel in own.values()])
        return mask
    is_blenders = np.concatenate([channel.ends_spline[:-1] for channel in own.values()])
    if not is_blenders.any():
        return mask
    rows = [np.searchsorted(frames, channel.keys.frames - np.float32(SAME_FRAME)) for channel in own.values()]
    segments = [segment for channel_rows in rows for segment in pairwise(channel_rows.tolist())]
    for start, end in compress(segments, is_blenders.tolist()):
        mask[start:end] = True
    while True:
        before = mask.copy()
        for start, end in segments:
            mask[start:end] |= mask[start:end].any()
        if (mask == before).all():
            return mask


def _rotation_spline(
    track: Track,
    settings: Settings,
    own: Mapping[int, OwnKeys],
    frames: Float32Array,
    raw: Float64Array,
    defaults: Mapping[str, float],
    is_between: bool,
) -> tuple[Spline, Float64Array | None]:
    """Return the spline of a rotation, and the angles between keys if the angles may exceed half a turn.

    If `is_between` is true, Blender plays all segments, so only the track's keys matter.
    """
    are_small = _are_small(own.values()) and len(own) == raw.shape[1]
    if not are_small:
        check_finite(track, frames, raw)
    spline_class, label = made_by(track, settings), METHODS[settings.method].label
    options = _options(track, settings, own, frames)
    parameters = parameter_rows(track, own, frames, defaults)
    if track.kind == "EULER" and hasattr(spline_class, "from_angles"):
        options["order"] = track.order
    try:
        if track.kind == "QUATERNION" or settings.path == "SHORTEST" or is_between:
            keys = _keys(frames, quaternions_of(track, raw), parameters, are_small)
            spline = spline_class(keys, settings.cycle, **options)
            if settings.path == "SHORTEST":
                return spline, None
            arcs = np.zeros(len(frames) - 1) if is_between else _arcs(keys.values)
            if "path" not in options:
                check_turns(track, frames, arcs, np.pi, label)
            # Rotations of less than half a turn need no unwrapping between samples.
            return spline, arcs if arcs.max(initial=0.0) > np.pi else None
        walk = walk_of(track, raw)
        turns = np.linalg.norm(walk, axis=1)
        if "order" in options:
            keys = _keys(frames, raw, parameters, are_small)
            return spline_class.from_angles(keys, settings.cycle, **options), turns
        keys = _keys(frames, quaternions_of(track, raw), parameters, are_small)
        if hasattr(spline_class, "from_walk"):
            options.pop("path", None)
            return spline_class.from_walk(keys, walk, settings.cycle, **options), turns
        check_turns(track, frames, turns, 2 * np.pi if "path" in options else np.pi, label)
        return spline_class(_with_signs_along(keys, walk), settings.cycle, **options), turns
    except KeysError as error:
        raise error_of_keys(track, error, frames) from error


def _with_signs_along(keys: Keys, walk: Float64Array) -> Keys:
    """Return quaternion keys with signs chosen so that the arcs between keys match the rotation vectors in `walk`."""
    q = keys.values
    reached = rotations.multiply(rotations.from_rotation_vector(walk), q[:-1])
    flips = np.where(np.einsum("ij,ij->i", reached, q[1:]) < 0.0, -1.0, 1.0)
    return keys.with_values(q * np.append(1.0, np.cumprod(flips))[:, np.newaxis])


def _arcs(quaternions: Float64Array) -> Float64Array:
    """Return the angle from each quaternion to the next, up to a whole turn because signs matter, shape (n - 1,)."""
    unit = rotations.normalise(quaternions)
    apart, joined = (np.linalg.norm(unit[1:] + sign * unit[:-1], axis=1) for sign in (-1.0, 1.0))
    arcs: Float64Array = 4.0 * np.arctan2(apart, joined)
    return arcs


def quaternions_of(track: Track, raw: Float64Array) -> Float64Array:
    """Convert a rotation's channel values to quaternions of any length."""
    if track.kind == "EULER":
        return rotations.from_euler(raw, track.order)
    if track.kind == "AXIS_ANGLE":
        return rotations.from_axis_angle(raw[:, 1:], raw[:, 0])
    return raw


def walk_of(track: Track, raw: Float64Array) -> Float64Array:
    """Return the rotations between consecutive rows of channel values as rotation vectors, shape (rows - 1, 3)."""
    if track.kind == "EULER":
        return rotations.walk_euler(raw, track.order)
    return rotations.walk_axis_angle(raw[:, 0], raw[:, 1:])


def values_at(track: Track, index: int, original: OwnKeys, frames: Float32Array) -> Float64Array:
    """Return the channel's value at each frame, from its key or, if there is no key, from the animator's curve."""
    key_frames = original.keys.frames
    if len(key_frames) == len(frames):
        # All frames are in the union, so equal numbers of frames mean equal frames.
        return original.keys.values.astype(np.float64)
    values = np.empty(len(frames))
    rows = np.clip(np.searchsorted(key_frames, frames - np.float32(SAME_FRAME)), 0, len(key_frames) - 1)
    has_key = np.abs(key_frames[rows] - frames) <= SAME_FRAME
    values[has_key] = original.keys.values[rows[has_key]]
    if not has_key.all():
        values[~has_key] = own_motion(track, index, original, frames[~has_key])
    return values


def own_motion(track: Track, index: int, original: OwnKeys, frames: Float32Array) -> Float64Array:
    """Return the values of the animator's curve for this channel, as evaluated by Blender."""
    if plays_its_own_keys(track, index) and not original.edited:
        channel = track.channels[index]
        return np.array([channel.evaluate(frame) for frame in frames.tolist()], dtype=np.float64)
    return scratch_curves.evaluate(original.keys, original.edited, track.extrapolation(index), frames)


def plays_its_own_keys(track: Track, index: int) -> bool:
    """Return whether the channel's F-curve plays the animator's keys unchanged, without a bake or modifiers."""
    return not track.is_played and not len(track.channels[index].modifiers)
