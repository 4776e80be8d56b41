# SPDX-License-Identifier: GPL-3.0-or-later
"""Match objects and bones with the nodes of a file, and actions with takes, and find the conversion of each node."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...formats.motion import MotionFile, NodeMotion, Take, Track
from ...interp import rotations
from ...interp.keys import Float64Array
from ..datablocks import name_of
from ..errors import Finding, size_of
from ..fcurves.frames import is_among, union
from ..fcurves.read_keys import read_coordinates
from .channel_curves import Timing
from .conversion import Conversion, Poses, find_conversion
from .items import FCurves, Item, turn_between

_SUFFIX = re.compile(r"\.\d{3,}$")
_LONGEST = 63
"""Maximum length of names in Blender, in bytes. Importers truncate longer names."""
PROPERTIES = {"translation": "location", "rotation": "rotation", "scale": "scale"}
_IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
_SAME_RATE = 1e-4
_SAME_START = 2e-3
"""Tolerance, in frames, for a start at a whole frame."""
_SAME_KEY = 0.01
"""Maximum distance, in frames, between a key of the file and the corresponding key of the F-curve."""
_VALUES_FIT = 1e-3
"""Maximum deviation of a pose, as a fraction of the range of the property's keys."""
_ROUNDED = 2e-5
"""Rounding error of importers, which compute with float32, as a fraction of the largest value."""
_ANGLES_FIT = np.radians(0.1)
_SAME_AXES = 1e-2
"""Maximum angle between the turn found from poses and the turn implied by ancestor nodes, in radians."""
_MOST_POSES = 400
"""Maximum number of compared keys. An importer converts all keys of a node in the same way."""
_MISFITS = {
    "translation": "LOCATION_OFF",
    "rotation": "ROTATION_OFF",
    "scale": "SCALE_OFF",
}


@dataclass(frozen=True, eq=False)
class Match:
    """The match of an object or bone with a node: the node's motion in a take, and the conversion.

    `misfit` is the error to raise, or None if the poses at keys fit. `unkeyed` counts the file's keys at frames without
    an F-curve key.
    """

    item: Item
    node: int
    motion: NodeMotion
    conversion: Conversion
    misfit: Finding | None
    unkeyed: int


def find_timing(pairs: Sequence[tuple[NodeMotion, Float64Array]], scene_rate: float) -> Timing | None:
    """Return the timing that maps the first and last keys of motions to the frames of the F-curve keys."""
    spans = []
    for motion, frames in pairs:
        times = np.concatenate([track.times for track in tracks_of(motion).values()])
        spans.append((times.min(), times.max(), frames.min(), frames.max()))
    if not spans:
        return None
    begin, end, first, last = np.array(spans).T
    has_length = end > begin
    rates = (last - first)[has_length] / (end - begin)[has_length]
    rate = float(np.median(rates)) if has_length.any() else scene_rate
    if not rate > 0.0:
        rate = scene_rate
    rate = scene_rate if abs(rate / scene_rate - 1.0) < _SAME_RATE else rate
    start = float(np.median(first - rate * begin))
    whole = round(start)
    return Timing(rate, float(whole) if abs(start - whole) < _SAME_START else start)


def tracks_of(motion: NodeMotion) -> dict[str, Track]:
    """Return a motion's tracks by name."""
    return {name: track for name in PROPERTIES if (track := getattr(motion, name)) is not None}


def _axes_candidates(file: MotionFile) -> Iterator[Float64Array]:
    """Yield candidate axis rotations: the one declared in the file, the identity, and all right-angle rotations."""
    yield file.to_blender
    yield _IDENTITY
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[np.arange(3), order] = signs
            if np.linalg.det(matrix) > 0.0:
                yield rotations.from_matrix(matrix)


class Matcher:
    """The nodes of a file, which are matched with items from the top of the hierarchy down."""

    def __init__(self, file: MotionFile, items: Sequence[Item]) -> None:
        self.file = file
        self.items = items
        self._by_name: dict[str, list[int]] = {}
        for index, node in enumerate(file.nodes):
            name = node.name.encode()[:_LONGEST].decode(errors="ignore")
            self._by_name.setdefault(name, []).append(index)

    def candidates(self, item: Item) -> list[int]:
        """Return the nodes whose names match an item's name, with or without the number that Blender adds."""
        exact = self._by_name.get(item.name, [])
        bare = _SUFFIX.sub("", item.name)
        return [*exact, *(self._by_name.get(bare, []) if bare != item.name else [])]

    def matches(self, take: Take, timing: Timing, fcurves: Mapping[object, FCurves]) -> list[Match]:
        """Return the items that the take animates, with their conversions.

        `fcurves` maps owners to their F-curves by path and index.
        """
        best: list[Match] = []
        fewest_conflicts = np.inf
        for axes in _axes_candidates(self.file):
            matches, conflicts = self._matches(take, timing, fcurves, axes)
            if conflicts < fewest_conflicts:
                best, fewest_conflicts = matches, conflicts
            if conflicts == 0:
                break
        return best

    def _matches(
        self, take: Take, timing: Timing, fcurves: Mapping[object, FCurves], axes: Float64Array
    ) -> tuple[list[Match], int]:
        """Return the matches for these axes, and the number of top-level items that contradict the axes."""
        # The node of each item, or -1 for none, and the turn of the item within the node.
        places: dict[Item | None, tuple[int, Float64Array]] = {None: (-1, rotations.conjugate(axes))}
        matches: list[Match] = []
        conflicts = 0
        for item in self.items:
            parent_node, parent_turn = places[item.parent]
            turn = rotations.multiply(parent_turn, item.frame)
            match, prior = self._best_match(item, take, timing, fcurves.get(item.owner, {}), parent_node, turn)
            if match is not None:
                matches.append(match)
                places[item] = (match.node, match.conversion.own)
                is_conflict = rotations.angle_between(match.conversion.turn, prior) > _SAME_AXES
                conflicts += int(parent_node < 0 and is_conflict)
            else:
                places[item] = self._still_place(item, take, parent_node, turn)
        return matches, conflicts

    def _best_match(
        self, item: Item, take: Take, timing: Timing, fcurves: FCurves, parent_node: int, turn: Float64Array
    ) -> tuple[Match | None, Float64Array]:
        """Return the first match that fits, otherwise the last one, with the turn implied by the ancestor nodes."""
        best, prior_of_best = None, _IDENTITY
        for node in self.candidates(item):
            motion = take.motions.get(node)
            if motion is None:
                continue
            chain = turn_between(self.file.nodes, parent_node, node)
            prior = rotations.multiply(rotations.conjugate(turn), _IDENTITY if chain is None else chain)
            match = _match(item, node, motion, timing, fcurves, prior)
            if match is not None:
                best, prior_of_best = match, prior
                if not match.misfit:
                    break
        return best, prior_of_best

    def _still_place(self, item: Item, take: Take, parent_node: int, turn: Float64Array) -> tuple[int, Float64Array]:
        """Return the node of an item without a match, and the turn of the item within the node.

        If no node of that name exists below the parent's node, return the parent's node.
        """
        inner = rotations.multiply(turn, item.rotation)
        place = parent_node, inner
        for node in self.candidates(item):
            chain = turn_between(self.file.nodes, parent_node, node)
            if node not in take.motions and chain is not None:
                node_turn = rotations.multiply(chain, self.file.nodes[node].rotation)
                place = node, rotations.multiply(rotations.conjugate(node_turn), inner)
        return place


def _match(
    item: Item, node: int, motion: NodeMotion, timing: Timing, fcurves: FCurves, prior: Float64Array
) -> Match | None:
    """Return the match of an item and a node, or None if they have no animated property in common."""
    match = _match_origin(item, node, motion, timing, fcurves, prior)
    if match is not None and match.misfit and motion.pivot is not None:
        # An importer may have moved the origin to the pivot.
        other = _match_origin(item, node, about_pivot(motion), timing, fcurves, prior)
        match = other if other is not None and not other.misfit else match
    return match


def about_pivot(motion: NodeMotion) -> NodeMotion:
    """Return the motion of a node with its pivot as the origin."""
    return replace(motion, translation=motion.pivot, pivot=None)


def _match_origin(
    item: Item, node: int, motion: NodeMotion, timing: Timing, fcurves: FCurves, prior: Float64Array
) -> Match | None:
    """Return the match of an item that shares the node's origin."""
    tracks = tracks_of(motion)
    tracks = {
        name: track
        for name, track in tracks.items()
        if any((item.path(PROPERTIES[name]), index) in fcurves for index in range(4))
    }
    if not tracks:
        return None
    file, blender = {}, {}
    unkeyed = 0
    still = Poses(np.zeros((1, 3)), _IDENTITY[np.newaxis], np.ones((1, 3)))
    for name in PROPERTIES:
        track = tracks.get(name)
        if track is None:
            file[name] = blender[name] = getattr(still, name)
            continue
        times, is_keyed = _keyed_times(track, item.path(PROPERTIES[name]), timing, fcurves)
        unkeyed += int(np.count_nonzero(~is_keyed))
        times = times[is_keyed] if is_keyed.any() else times
        times = times[:: max(1, len(times) // _MOST_POSES)]
        file[name] = track.evaluate(times)
        blender[name] = item.played(PROPERTIES[name], fcurves, timing.frames(times))
    if "rotation" not in tracks:
        # Without rotation keys, the prior gives the item's turn within the node.
        file["rotation"], blender["rotation"] = _IDENTITY[np.newaxis], prior[np.newaxis]
    file_poses, blender_poses = Poses(**file), Poses(**blender)
    conversion = find_conversion(file_poses, blender_poses, prior)
    misfit = _misfit(item, tracks, conversion, file_poses, blender_poses)
    return Match(item, node, motion, conversion, misfit, unkeyed)


def _keyed_times(
    track: Track, path: str, timing: Timing, fcurves: FCurves
) -> tuple[Float64Array, npt.NDArray[np.bool_]]:
    """Return the times at which all components have keys in the file, and a mask of times with F-curve keys."""
    times = track.shared_times
    keyed = [read_coordinates(fcurve)[::2] for (key_path, _), fcurve in fcurves.items() if key_path == path]
    return times, is_among(timing.frames(times).astype(np.float32), union(keyed), _SAME_KEY)


def _misfit(
    item: Item, tracks: Mapping[str, Track], conversion: Conversion, file: Poses, blender: Poses
) -> Finding | None:
    """Return the error for the first property whose poses do not fit, or None."""
    for name in tracks:
        expected, original = getattr(blender, name), getattr(file, name)
        path = item.path(PROPERTIES[name])
        if name == "rotation":
            deviation = rotations.angle_between(conversion.rotation(original), expected)
            allowed = _ANGLES_FIT
        else:
            converted = conversion.location(original) if name == "translation" else conversion.scale(original)
            deviation = np.abs(converted - expected).max(axis=1)
            value_range, largest = float(np.ptp(expected, axis=0).max()), float(np.abs(expected).max())
            allowed = _VALUES_FIT * value_range + _ROUNDED * largest + 1e-6
        if deviation.max() > allowed:
            size = size_of(float(deviation.max()), name == "rotation")
            return Finding(_MISFITS[name], name_of(item.owner), path, arguments=(size,))
    return None
