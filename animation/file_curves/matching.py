# SPDX-License-Identifier: GPL-3.0-or-later
"""Which node of a file an object or a bone is, which take an action, and the conversion of each."""

from __future__ import annotations

import itertools
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
from ..fcurves.keyframes import read_coordinates
from .conversion import Conversion, Poses, find_conversion
from .items import FCurves, Item, candidates, nodes_named, turn_between
from .played import Timing

PROPERTIES = {"translation": "location", "rotation": "rotation", "scale": "scale"}
_IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
_SAME_RATE = 1e-4
_SAME_START = 2e-3
"""Frames."""
_SAME_KEY = 0.01
"""Frames."""
_VALUES_FIT = 1e-3
"""A part of the range of a property's keys by which a pose may be off."""
_ROUNDED = 2e-5
"""A part of the largest value: importers compute with float32."""
_ANGLES_FIT = np.radians(0.1)
_AGREES = 1e-2
"""Radians between the turn that poses show and the one that the nodes above imply."""
_MOST_POSES = 400
"""Keys that are compared: an importer makes all of a node in one way."""
_MISFITS = {
    "translation": "LOCATION_OFF",
    "rotation": "ROTATION_OFF",
    "scale": "SCALE_OFF",
}


@dataclass(frozen=True, eq=False)
class Match:
    """An object or bone, the node that it is, how a take moves that, and the conversion.

    `misfit`: the error to be raised for it; None where its key poses fit. `unkeyed`: how many of the file's keys are at
    frames without a key of an F-curve.
    """

    item: Item
    node: int
    motion: NodeMotion
    conversion: Conversion
    misfit: Finding | None
    unkeyed: int


def find_timing(pairs: Sequence[tuple[NodeMotion, Float64Array]], scene_rate: float) -> Timing | None:
    """Return the timing by which the first and the last keys of motions come to the frames of F-curves' keys."""
    spans = []
    for motion, frames in pairs:
        times = np.concatenate([track.times for track in tracks_of(motion).values()])
        spans.append((times.min(), times.max(), frames.min(), frames.max()))
    if not spans:
        return None
    begin, end, first, last = np.array(spans).T
    long = end > begin
    rate = float(np.median((last - first)[long] / (end - begin)[long])) if long.any() else scene_rate
    if not rate > 0.0:
        rate = scene_rate
    rate = scene_rate if abs(rate / scene_rate - 1.0) < _SAME_RATE else rate
    start = float(np.median(first - rate * begin))
    whole = round(start)
    return Timing(rate, float(whole) if abs(start - whole) < _SAME_START else start)


def tracks_of(motion: NodeMotion) -> dict[str, Track]:
    """Return the tracks that a motion has, by name."""
    every = {name: getattr(motion, name) for name in PROPERTIES}
    return {name: track for name, track in every.items() if track is not None}


def axes_candidates(file: MotionFile) -> Iterator[Float64Array]:
    """Yield turns from the file's axes to Blender's: the file's own, none, and all others by right angles."""
    yield file.to_blender
    yield _IDENTITY
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[np.arange(3), order] = signs
            if np.linalg.det(matrix) > 0.0:
                yield rotations.from_matrix(matrix)


class Matcher:
    """Matches items with the nodes of a file, from the top of the hierarchy down."""

    def __init__(self, file: MotionFile, items: Sequence[Item]) -> None:
        self.file = file
        self.items = items
        self._by_name = nodes_named(file.nodes)

    def candidates(self, item: Item) -> list[int]:
        """Return the nodes that an item may be, by name."""
        return candidates(item, self._by_name)

    def matches(self, take: Take, timing: Timing, fcurves: Mapping[object, FCurves]) -> list[Match]:
        """Return the items that the take moves, with their conversions.

        `fcurves` has those of each owner by path and index.
        """
        best: list[Match] = []
        score = -np.inf
        for axes in axes_candidates(self.file):
            matches, agreement = self._matches(take, timing, fcurves, axes)
            if agreement > score:
                best, score = matches, agreement
            if agreement == 0.0:
                break
        return best

    def _matches(
        self, take: Take, timing: Timing, fcurves: Mapping[object, FCurves], axes: Float64Array
    ) -> tuple[list[Match], float]:
        """Return matches for some axes, and the number of top items, negative, whose motion shows others."""
        # The node that each item is, -1 for none, and the turn of the item within it.
        places: dict[Item | None, tuple[int, Float64Array]] = {None: (-1, rotations.conjugate(axes))}
        matches: list[Match] = []
        agreement = 0.0
        for item in self.items:
            above, within = places[item.parent]
            inside = rotations.multiply(within, item.frame)
            match = None
            for node in self.candidates(item):
                chain = turn_between(self.file.nodes, above, node)
                between = _IDENTITY if chain is None else chain
                prior = rotations.multiply(rotations.conjugate(inside), between)
                motion = take.motions.get(node)
                if motion is None:
                    if chain is not None and match is None:
                        turned = rotations.multiply(between, self.file.nodes[node].rotation)
                        inner = rotations.multiply(inside, item.rotation)
                        places[item] = (node, rotations.multiply(rotations.conjugate(turned), inner))
                    continue
                found = _match(item, node, motion, timing, fcurves.get(item.owner, {}), prior)
                if found is not None and (match is None or match.misfit):
                    match = found
                    disagrees = rotations.angle_between(found.conversion.turn, prior) > _AGREES
                if match is not None and not match.misfit:
                    break
            if match is not None:
                matches.append(match)
                places[item] = (match.node, match.conversion.own)
                agreement -= float(above < 0 and disagrees)
            elif item not in places:
                places[item] = (above, rotations.multiply(inside, item.rotation))
        return matches, agreement


def _match(
    item: Item, node: int, motion: NodeMotion, timing: Timing, fcurves: FCurves, prior: Float64Array
) -> Match | None:
    """Return the match of an item and a node; None if the item's F-curves animate nothing that the take does."""
    match = _match_origin(item, node, motion, timing, fcurves, prior)
    if match is not None and match.misfit and motion.pivot is not None:
        # An importer may have made the pivot the origin.
        other = _match_origin(item, node, about_pivot(motion), timing, fcurves, prior)
        match = other if other is not None and not other.misfit else match
    return match


def about_pivot(motion: NodeMotion) -> NodeMotion:
    """Return the motion of a node whose origin is its pivot."""
    return replace(motion, translation=motion.pivot, pivot=None)


def _match_origin(
    item: Item, node: int, motion: NodeMotion, timing: Timing, fcurves: FCurves, prior: Float64Array
) -> Match | None:
    """Return the match of an item whose origin is the node's."""
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
        times, among = _keyed_times(track, item.path(PROPERTIES[name]), timing, fcurves)
        unkeyed += int(np.count_nonzero(~among))
        times = times[among] if among.any() else times
        times = times[:: max(1, len(times) // _MOST_POSES)]
        file[name] = track.evaluate(times)
        blender[name] = item.played(PROPERTIES[name], fcurves, timing.frames(times))
    if "rotation" not in tracks:
        # What the rotation is when it stays still tells how the item is turned in the node.
        file["rotation"], blender["rotation"] = _IDENTITY[np.newaxis], prior[np.newaxis]
    conversion = find_conversion(Poses(**file), Poses(**blender), prior)
    misfit = _misfit(item, tracks, conversion, Poses(**file), Poses(**blender))
    return Match(item, node, motion, conversion, misfit, unkeyed)


def _keyed_times(
    track: Track, path: str, timing: Timing, fcurves: FCurves
) -> tuple[Float64Array, npt.NDArray[np.bool_]]:
    """Return the times at which the file knows the whole pose, and at which of them the F-curves have keys."""
    times = track.shared_times
    keyed = [read_coordinates(fcurve)[::2] for (own, _), fcurve in fcurves.items() if own == path]
    return times, is_among(timing.frames(times).astype(np.float32), union(keyed), _SAME_KEY)


def _misfit(
    item: Item, tracks: Mapping[str, Track], conversion: Conversion, file: Poses, blender: Poses
) -> Finding | None:
    """Return the error for the first property whose poses do not fit."""
    for name in tracks:
        wanted, found = getattr(blender, name), getattr(file, name)
        path = item.path(PROPERTIES[name])
        if name == "rotation":
            off = rotations.angle_between(conversion.rotation(found), wanted)
            allowed = _ANGLES_FIT
        else:
            converted = conversion.location(found) if name == "translation" else conversion.scale(found)
            off = np.abs(converted - wanted).max(axis=1)
            allowed = _VALUES_FIT * float(np.ptp(wanted, axis=0).max()) + _ROUNDED * float(np.abs(wanted).max()) + 1e-6
        if off.max() > allowed:
            size = size_of(float(off.max()), name == "rotation")
            return Finding(_MISFITS[name], name_of(item.owner), path, arguments=(size,))
    return None
