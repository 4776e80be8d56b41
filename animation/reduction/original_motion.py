# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of objects and bones before a reduction, and the deviation of the played keys from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...interp.fitting.reduction import limits_while_still, stand_still
from ...interp.keys import BoolArray
from ..fcurves.channels import channels_of
from ..fcurves.keyframes import Float32Array, Float64Array, union
from ..fcurves.read_and_write import read_coordinates
from ..sampling.transforms import UnknownMotionError
from ..store.find_tracks import find_tracks
from ..store.tracks import Track
from ..text import number_text, rpt_
from .armature import check_evaluated, evaluated_positions, names_of_points, play_densely, point_positions
from .keys_outside_range import sides
from .new_keys import Played, ReferenceMotion
from .report import ReduceRequest
from .sampled_track import SampledTrack, filtered, moves_bones, sample_track
from .write_new_keys import ActionCopy


def count_keys(tracks: Sequence[Track], range_: Float64Array) -> tuple[int, int]:
    """Return the number of keyed frames in a range, summed over tracks, and summed over bones and objects."""
    frames_by_owner: dict[str, list[Float32Array]] = {}
    keys = 0
    for track in tracks:
        frames = union([read_coordinates(fcurve)[::2] for fcurve in track.channels.values()])
        frames = frames[~np.logical_or(*sides(frames, range_))]
        keys += len(frames)
        frames_by_owner.setdefault(track.path.rpartition(".")[0], []).append(frames)
    return keys, sum(len(union(frames)) for frames in frames_by_owner.values())


@dataclass
class Deviation:
    """The deviation between two motions, with distances in scene units and angles in radians."""

    largest: float = 0.0
    at: str = ""
    """The bone or track, and the frame, with the maximum deviation."""
    mean: float = 0.0
    """The mean over all frames, and over all points or values."""
    angle: float = 0.0
    """The largest angle between rotations other than bone rotations."""
    angle_at: str = ""

    def with_points(self, points: Deviation) -> Deviation:
        """Combine the deviation of values and rotations with the points' deviation.

        The mean deviation is the mean over the points.
        """
        larger = points if points.largest >= self.largest else self
        return Deviation(larger.largest, larger.at, points.mean, self.angle, self.angle_at)


_Motion = tuple[Sequence[SampledTrack], Float64Array | None]
"""Tracks, and the positions of all bone heads and tails, shape (points, frames, 3)."""


class OriginalMotion:
    """The motion of a datablock's tracks and of an armature's bone heads and tails, which a reduction preserves.

    Raises AnimationError if the motion of bones is unknown.

    Attributes
    ----------
    tracks : list of SampledTrack
        The tracks to reduce. `remove_noise` replaces these tracks with filtered tracks.
    kept_tracks : list of SampledTrack
        The other tracks of an armature.
    positions : ndarray, shape (points, frames, 3), or None
        The positions of all bone heads and tails, or None if no bones move.
    is_evaluated : bool
        True if anything other than F-curves and parents moves a bone, so that Blender must evaluate the motion.
    noise : Deviation
        The effect of the filter.
    """

    def __init__(
        self, datablock: bpy.types.ID, copy: ActionCopy, tracks: list[SampledTrack], frames: Float64Array
    ) -> None:
        self._datablock = datablock
        self._copy = copy
        self._frames = frames
        self._point_names: list[str] = []
        self._unfiltered: _Motion | None = None
        self._between: _Motion | None = None
        self.tracks = tracks
        self.kept_tracks: list[SampledTrack] = []
        self.positions: Float64Array | None = None
        self.is_evaluated = False
        self.noise = Deviation()
        if moves_bones(datablock, tracks):
            self._locate_points()

    def _locate_points(self) -> None:
        """Compute the positions of bone heads and tails."""
        paths = {sampled.track.path for sampled in self.tracks}
        others = [track for track in find_tracks(self._datablock, self._copy.original) if track.path not in paths]
        self.kept_tracks = [sample_track(track, self._frames, stays=True) for track in others if track.in_use]
        self._point_names = names_of_points(self._datablock)
        try:
            self.positions = point_positions(self._datablock, self._frames, [*self.tracks, *self.kept_tracks])
        except UnknownMotionError:
            check_evaluated(self._datablock)
            self.is_evaluated = True
            self.positions = evaluated_positions(self._datablock, self._frames)

    @property
    def moving_tracks(self) -> list[SampledTrack]:
        """Return the tracks to reduce that move."""
        return [sampled for sampled in self.tracks if not sampled.is_still]

    def remove_noise(self, period: float) -> None:
        """Filter all tracks except those whose original keys were recovered, and measure the effect."""
        unfiltered = self.tracks
        self._unfiltered = unfiltered, self.positions
        self.tracks = [
            sampled if sampled.is_still or sampled.stays else filtered(sampled, period, self._frames)
            for sampled in unfiltered
        ]
        values = {sampled.track.path: sampled.values for sampled in self.tracks}
        self.noise = _deviation_of_tracks(unfiltered, values, self._frames)
        if self.positions is not None:
            positions = self._filtered_positions()
            points = _deviation_of_points(self._point_names, self.positions, positions, self._frames)
            self.noise = self.noise.with_points(points)
            self.positions = positions

    def _filtered_positions(self) -> Float64Array:
        """Return the positions of all bone heads and tails for the filtered tracks."""
        if not self.is_evaluated:
            return point_positions(self._datablock, self._frames, self.tracks)
        try:
            play_densely(self._copy.assign(), self.tracks, self._frames)
            return evaluated_positions(self._datablock, self._frames)
        finally:
            self._copy.remove()

    def reference(self, request: ReduceRequest, factor: float) -> ReferenceMotion:
        """Return the motion with tolerances. `factor` is the ratio of the error to the requested error."""
        error, angle = factor * request.error, factor * request.angle
        still = None if request.still is None else (request.still, request.still)
        point_tolerances = None
        if self.positions is not None:
            point_tolerances = np.full(self.positions.shape[:2], error)
            point_tolerances = limits_while_still(point_tolerances, self.positions, still)
        track_tolerances = {
            sampled.track.path: sampled.tolerances(error, angle, still)[0]
            for sampled in self.tracks
            if not sampled.is_of_bone
        }
        return ReferenceMotion(self._datablock, self.positions, point_tolerances, track_tolerances)

    def played(self) -> Played:
        """Return the motion that the datablock's F-curves play now."""
        tracks = [sample_track(track, self._frames) for track in self.tracks_now()]
        positions = None
        if self.positions is not None and self.is_evaluated:
            positions = evaluated_positions(self._datablock, self._frames)
        elif self.positions is not None:
            positions = point_positions(self._datablock, self._frames, [*tracks, *self.kept_tracks])
        return Played({sampled.track.path: sampled.values for sampled in tracks}, positions)

    def tracks_now(self) -> list[Track]:
        """Return the tracks of the datablock's current action at the paths of the tracks to reduce."""
        paths = {sampled.track.path for sampled in self.tracks}
        tracks = find_tracks(self._datablock, channels_of(self._datablock))
        return [track for track in tracks if track.path in paths]

    def deviation(self, played: Played, still: float | None) -> tuple[Deviation, Deviation]:
        """Return the deviation of the tracks and points, and of the points at rest within a ball of radius `still`."""
        deviation = _deviation_of_tracks(self.tracks, played.values, self._frames)
        if self.positions is not None and played.positions is not None:
            names, reference, positions = self._point_names, self.positions, played.positions
            points = _deviation_of_points(names, reference, positions, self._frames)
            deviation = deviation.with_points(points)
        else:
            locations = [sampled for sampled in self.tracks if sampled.property_name == "location"]
            if not locations:
                return deviation, Deviation()
            names = [sampled.track.path for sampled in locations]
            reference = np.stack([sampled.values for sampled in locations])
            positions = np.stack([played.values[path] for path in names])
        if still is None:
            return deviation, Deviation()
        is_at_rest = stand_still(reference, still)
        return deviation, _deviation_of_points(names, reference, positions, self._frames, is_at_rest)

    def sample_between_frames(self) -> None:
        """Sample the original motion halfway between frames, for `deviation_between_frames`.

        There is no reference for filtered motion between frames.
        """
        self._between = None if self._unfiltered is not None else self._motion_between_frames()

    def _motion_between_frames(self) -> _Motion | None:
        """Return the current motion halfway between frames, or None if F-curves alone do not determine it."""
        if self.is_evaluated:
            return None
        frames = self._middle_frames
        tracks = [sample_track(track, frames) for track in self.tracks_now()]
        return tracks, None if self.positions is None else point_positions(self._datablock, frames, tracks)

    @property
    def _middle_frames(self) -> Float64Array:
        """Return the frames halfway between the samples."""
        middles: Float64Array = 0.5 * (self._frames[1:] + self._frames[:-1])
        return middles

    def deviation_between_frames(self, played: Mapping[str, Float64Array], error: float) -> Deviation:
        """Return the deviation halfway between frames, except where the motion jumped before or is a step now.

        `played` contains the values now played at the frames, by path. Motion that differs from the mean of both frames
        by more than `error` counts as a jump.
        """
        now = None if self._between is None else self._motion_between_frames()
        if self._between is None or now is None:
            return Deviation()
        (tracks_before, positions_before), (tracks, positions) = self._between, now
        at_frames = {sampled.track.path: sampled.values for sampled in self.tracks}
        compared = {}
        for before, sampled in zip(tracks_before, tracks, strict=True):
            path = sampled.track.path
            middle = 0.5 * (at_frames[path][1:] + at_frames[path][:-1])
            is_ignored = _jumps(before, middle) > error
            is_ignored |= (sampled.values == played[path][:-1]).all(axis=1)
            compared[path] = np.where(is_ignored[:, np.newaxis], before.values, sampled.values)
        deviation = _deviation_of_tracks(tracks_before, compared, self._middle_frames)
        if positions_before is not None and positions is not None and self.positions is not None:
            middle = 0.5 * (self.positions[:, 1:] + self.positions[:, :-1])
            is_smooth = np.linalg.norm(positions_before - middle, axis=2) <= error
            points = _deviation_of_points(
                self._point_names, positions_before, positions, self._middle_frames, is_smooth
            )
            deviation = deviation.with_points(points)
        return deviation

    def deviation_from_unfiltered(self, played: Played) -> Deviation:
        """Return the deviation from the unfiltered motion. Without a filter, the deviation is 0."""
        if self._unfiltered is None:
            return Deviation()
        tracks, positions = self._unfiltered
        deviation = _deviation_of_tracks(tracks, played.values, self._frames)
        if positions is None or played.positions is None:
            return deviation
        points = _deviation_of_points(self._point_names, positions, played.positions, self._frames)
        return deviation.with_points(points)


def _jumps(between: SampledTrack, middle: Float64Array) -> Float64Array:
    """Return the distances (frames,) of a track's values halfway between frames from the means of both frames."""
    signs = np.sign((middle * between.values).sum(axis=1, keepdims=True)) if between.track.is_rotation else 1.0
    distances: Float64Array = np.linalg.norm(signs * between.values - middle, axis=1)
    return distances


def _deviation_of_tracks(
    tracks: Sequence[SampledTrack], played: Mapping[str, Float64Array], frames: Float64Array
) -> Deviation:
    """Return the deviation of the played values, given by path, from the tracks. Transforms of bones are ignored.

    Rotations are unit quaternions.
    """
    deviation = Deviation()
    means = []
    for sampled in tracks:
        if sampled.is_of_bone:
            continue
        path = sampled.track.path
        errors = sampled.errors(played[path])
        row = int(np.argmax(errors))
        at = rpt_("{:s}, frame {:s}", path, number_text(frames[row]))
        if not sampled.track.is_rotation:
            means.append(errors.mean())
            if errors[row] >= deviation.largest:
                deviation.largest, deviation.at = float(errors[row]), at
        elif errors[row] >= deviation.angle:
            deviation.angle, deviation.angle_at = float(errors[row]), at
    deviation.mean = float(np.mean(means)) if means else 0.0
    return deviation


def _deviation_of_points(
    names: Sequence[str],
    reference: Float64Array,
    positions: Float64Array,
    frames: Float64Array,
    is_measured: BoolArray | None = None,
) -> Deviation:
    """Return the deviation of points from their reference positions, shape (points, frames, 3).

    The mask `is_measured`, shape (points, frames), limits the measurement to some frames of each point.
    """
    errors = np.linalg.norm(positions - reference, axis=2)
    if is_measured is not None:
        if not is_measured.any():
            return Deviation()
        errors = np.where(is_measured, errors, 0.0)
    point, row = divmod(int(np.argmax(errors)), len(frames))
    at = rpt_("{:s}, frame {:s}", names[point], number_text(frames[row]))
    return Deviation(float(errors[point, row]), at, float(errors.mean()))
