# SPDX-License-Identifier: GPL-3.0-or-later
"""Construct a track's splines from the animator's keys.

A rotation has one spline. For values, components with the same key frames and parameters share a spline. A spline that
is interrupted by segments that Blender plays consists of one spline per run of keys.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ....interp import KeysError
from ....interp.base_spline import Spline
from ....interp.piecewise import PiecewiseSpline
from ....interp.rotations.base_rotation_spline import splines_along_walks
from ....interp.splines import tcb
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, union
from ...records import record
from ...report import AnimationError
from ...store.own_keys import OwnKeys
from ...store.parameters import parameter_rows
from ...store.table.track_records import Settings
from ...store.tracks import Track, spline_class_of
from .own_motion import (
    OwnChannels,
    TrackInput,
    begin_segments_of_any,
    channel_segments,
    has_segment,
    run_slices,
    spline_slices,
    values_at,
)
from .rotations import quaternions_of, rotation_spline, split_walk
from .spline_keys import (
    check_frames,
    check_range,
    check_size,
    error_of_keys,
    spline_keys,
    spline_options,
    values_are_small,
)

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
    begins_segment: BoolArray
    """Mask of the keys that begin segments played by Blender, which separate the runs of the spline, shape (n,)."""
    make_spline: _MakeSpline | None = None
    """Function that creates the spline of a run. None if Blender plays no segment."""
    turns: Float64Array | None = None
    """Angles between keys in radians if they may exceed half a turn, shape (n - 1,)."""

    @cached_property
    def is_interrupted(self) -> bool:
        """Return whether Blender plays any segment."""
        return self.make_spline is not None and has_segment(self.begins_segment)

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
        return [self._run(rows) for rows in run_slices(self.begins_segment)]

    def run_of(self, row: int) -> tuple[TrackSpline, int]:
        """Return the run that contains a key, and the row of the key in the run."""
        rows = next(run for run in run_slices(self.begins_segment) if row < run.stop)
        return self._run(rows), row - rows.start

    def _run(self, rows: slice) -> TrackSpline:
        if not self.is_interrupted:
            return self
        assert self.make_spline is not None
        spline, turns = self.make_spline(rows)
        frames = self.frames[rows]
        no_segment = np.zeros(len(frames), dtype=np.bool_)
        return TrackSpline(self.components, frames, self.values[rows], spline, no_segment, self.make_spline, turns)


def track_splines(
    track: Track, settings: Settings, own: OwnChannels, defaults: Mapping[str, float]
) -> list[TrackSpline]:
    """Return the splines of the track. `defaults` contains the parameters of keys that have none of their own.

    Raises an AnimationError that names the key if the keys or their parameters do not define a spline.
    """
    components_by_shape: dict[bytes, list[int]] = {}
    for index, keys in own.items():
        components_by_shape.setdefault(keys.spline_input, []).append(index)
    for first, *_ in components_by_shape.values():
        check_frames(track, own[first].frames)
    if track.is_rotation:
        return [_spline_of_rotation(track, settings, own, defaults)]
    return [
        _spline_of_values(track, settings, {index: own[index] for index in components}, defaults)
        for components in components_by_shape.values()
    ]


def _spline_of_values(track: Track, settings: Settings, own: OwnChannels, defaults: Mapping[str, float]) -> TrackSpline:
    """Create the spline of the channels in `own`, whose keys have the same frames and parameters."""
    components, first = [*own], next(iter(own.values()))
    frames, values = first.frames, _columns(own.values())
    are_small = values_are_small(own.values())
    if not are_small:
        check_size(track, frames, values)
    spline_class = spline_class_of(track, settings)
    begins_segment = first.begins_segment.copy()
    begins_segment[-1:] = False
    slices = spline_slices(begins_segment)

    def make_spline(rows: slice) -> tuple[Spline, None]:
        options = spline_options(track, settings, own, frames[rows])
        try:
            parameters = parameter_rows(track, own, frames[rows], defaults)
            keys = spline_keys(frames[rows], values[rows], parameters, are_small)
            return spline_class(keys, settings.cycle if len(slices) == 1 else "SINGLE", **options), None
        except KeysError as error:
            raise error_of_keys(track, error, frames[rows], components) from error

    splines = [make_spline(rows)[0] for rows in slices]
    spline: Spline = splines[0]
    if len(slices) > 1:
        segment_rows = np.flatnonzero(begins_segment[:-1])
        segments = channel_segments(own, frames, values, segment_rows)
        spline = PiecewiseSpline(splines, segments, None, _cycle_of_runs(settings), segment_rows)
    if settings.method != Settings.method:
        check_range(track, spline, frames)
    return TrackSpline(components, frames, values, spline, begins_segment, make_spline)


def _spline_of_rotation(
    track: Track, settings: Settings, own: OwnChannels, defaults: Mapping[str, float]
) -> TrackSpline:
    """Create the spline of a rotation, with keys at the union of its channels' frames."""
    components = list(range(len(track.rest)))
    frames, values = _whole_rotations(track, own)
    begins_segment = begin_segments_of_any(own, frames)
    slices = spline_slices(begins_segment)
    settings_of_run = settings if len(slices) == 1 else replace(settings, cycle="SINGLE")

    def make_spline(rows: slice) -> tuple[Spline, Float64Array | None]:
        is_blenders = has_segment(begins_segment[rows])
        return rotation_spline(track, settings_of_run, own, frames[rows], values[rows], defaults, is_blenders)

    splines, turns_of_splines = zip(*map(make_spline, slices), strict=True)
    if len(slices) == 1:
        return TrackSpline(components, frames, values, splines[0], begins_segment, make_spline, turns_of_splines[0])
    representation = track.order if track.kind == "EULER" else track.kind
    segment_rows = np.flatnonzero(begins_segment[:-1])
    segments = channel_segments({index: own.get(index) for index in components}, frames, values, segment_rows)
    spline = PiecewiseSpline(list(splines), segments, representation, _cycle_of_runs(settings), segment_rows)
    # The angles of segments that Blender plays stay 0, because the spline does not define them.
    turns = np.zeros(len(frames))
    for rows, turns_of_spline in zip(slices, turns_of_splines, strict=True):
        if turns_of_spline is not None:
            turns[rows][:-1] = turns_of_spline
    large_turns = turns[:-1] if turns.any() else None
    return TrackSpline(components, frames, values, spline, begins_segment, make_spline, large_turns)


def _whole_rotations(track: Track, own: OwnChannels) -> tuple[Float32Array, Float64Array]:
    """Return the frames of all channels' keys, shape (n,), and the values of all components there, (n, components)."""
    count = len(track.rest)
    if [*own] == [*range(count)] and len({keys.frame_bytes for keys in own.values()}) == 1:
        return own[0].frames, _columns(own.values())
    frames = union([keys.keys.frames for keys in own.values()])
    values = np.empty((len(frames), count))
    for index in range(count):
        values[:, index] = values_at(track, index, own[index], frames) if index in own else track.component(index)
    return frames, values


def _cycle_of_runs(settings: Settings) -> Literal["SINGLE", "REPEAT"]:
    """Return the cycle of a spline with several runs. An interrupted loop becomes a repetition."""
    return "SINGLE" if settings.cycle == "SINGLE" else "REPEAT"


def _columns(own: Iterable[OwnKeys]) -> Float64Array:
    """Return the values of channels keyed at the same frames, shape (n, channels)."""
    return np.stack([keys.values for keys in own], axis=1)


def splines_together(inputs: Sequence[TrackInput]) -> list[list[TrackSpline] | None]:
    """Return the splines of TCB tracks, or None for tracks whose keys `track_splines` must check.

    Creating the splines of tracks that differ only in values together is several times faster.
    """
    groups: dict[Hashable, list[int]] = {}
    for number, each in enumerate(inputs):
        track, settings, own, defaults = each.track, each.settings, each.own, each.options.defaults
        shapes = {keys.spline_input for keys in own.values()}
        has_known_path = track.kind != "QUATERNION" or settings.path == "SHORTEST"
        is_whole = not track.is_rotation or [*own] == [*range(len(track.rest))]
        if settings.method == Settings.method and len(shapes) == 1 and has_known_path and is_whole:
            choices = settings.cycle, settings.ends, settings.construction, settings.path
            group = track.kind, track.order, *choices, *own, *shapes, tuple(defaults.items())
            groups.setdefault(group, []).append(number)
    splines: list[list[TrackSpline] | None] = [None] * len(inputs)
    for numbers in groups.values():
        with suppress(AnimationError, KeysError):
            for number, spline in zip(numbers, _splines_alike([inputs[number] for number in numbers]), strict=False):
                splines[number] = [spline]
    return splines


def _splines_alike(inputs: Sequence[TrackInput]) -> Iterator[TrackSpline]:
    """Yield the spline of each track, or nothing if the keys need checks.

    The keys of all channels have the same frames and parameters.
    """
    track, settings, own = inputs[0].track, inputs[0].settings, inputs[0].own
    components, first = [*own], next(iter(own.values()))
    channels = [keys for each in inputs for keys in each.own.values()]
    if first.has_blender_segment or not values_are_small(channels):
        return
    frames, count = first.frames, len(inputs)
    check_frames(track, frames)
    parameters = parameter_rows(track, own, frames, inputs[0].options.defaults)
    by_channel = np.concatenate([keys.values for keys in channels]).reshape(count, len(components), len(frames))
    values = np.ascontiguousarray(by_channel.swapaxes(1, 2))
    rows, turns = values.reshape(-1, len(components)), None
    points = quaternions_of(track, rows).reshape(count, len(frames), 4) if track.is_rotation else values
    first_keys = spline_keys(frames, points[0], parameters, are_small=True)
    keys = [first_keys.with_values(track_points) for track_points in points]
    options: dict[str, Any] = {"ends": settings.ends, "construction": settings.construction}
    splines: list[Any]
    if not track.is_rotation:
        splines = [tcb.VectorSpline(track_keys, settings.cycle) for track_keys in keys]
    elif settings.path == "SHORTEST":
        splines = [tcb.RotationSpline(track_keys, settings.cycle, **options) for track_keys in keys]
    else:
        walks, full_turns, turns = split_walk(track, settings.path, values)
        full_turns_of_tracks = [None if full_turns is None else full_turns.of_track(number) for number in range(count)]
        splines = splines_along_walks(
            tcb.RotationSpline, keys, list(walks), settings.cycle, full_turns_of_tracks, **options
        )
    no_segment = np.zeros(len(frames), dtype=np.bool_)
    for number, (track_values, spline) in enumerate(zip(values, splines, strict=True)):
        track_turns = None if turns is None else turns[number]
        yield TrackSpline(components, frames, track_values, spline, no_segment, turns=track_turns)
