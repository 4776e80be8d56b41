# SPDX-License-Identifier: GPL-3.0-or-later
"""Match objects and bones with the nodes of a file by names and poses, and actions with its takes."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...formats.motion import MotionFile, Node, NodeMotion, Take, Track
from ...interp import rotations
from ...interp.keys import Float64Array
from ..datablocks import HAS_SLOTS, animation_data, name_of
from ..fcurves.channels import Channels, channels_in, check_editable
from ..fcurves.keyframes import is_among, union
from ..fcurves.read_and_write import read_coordinates
from ..report import AnimationError, Finding, Report, size_of
from ..sampling.transforms import FCurves, by_path
from ..scene_time import frame_rate
from .convert_axes_and_times import Clock, NodeConversion, Poses, find_conversion
from .objects_and_bones import Item

# Objects, bones and nodes

_SAME_KEY = 0.01
"""Maximum distance, in frames, between a key of the file and the corresponding key of the F-curve."""
_VALUES_FIT = 1e-3
"""Maximum deviation of a pose, as a fraction of the range of the property's keys."""
_ROUNDED = 2e-5
"""Rounding error of importers, which compute with float32, as a fraction of the largest value."""
_ANGLES_FIT = np.radians(0.1)
_MOST_POSES = 400
"""Maximum number of compared keys. An importer converts all keys of a node in the same way."""
_IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
_SUFFIX = re.compile(r"\.\d{3,}$")
_LONGEST = 63
"""Maximum length of names in Blender, in bytes. Importers truncate longer names."""
_MOST_AXES = 4
"""Maximum number of axes that are tried for all actions, because each takes as long as matching the actions once."""
_SAME_AXES = 1e-2
"""Maximum angle between the turn found from poses and the turn implied by ancestor nodes, in radians."""


@dataclass(frozen=True, eq=False)
class Match:
    """The match of an object or bone with a node."""

    item: Item
    node: int
    motion: NodeMotion
    """The node's motion in a take, about its origin or its pivot."""
    prior: Float64Array
    """The turn implied by the ancestor nodes, as a quaternion, shape (4,)."""
    conversion: NodeConversion
    misfit: Finding | None
    """The error to raise, or None if the poses at keys fit."""
    unkeyed: int
    """The number of the file's keys at frames without an F-curve key."""


def _match(
    item: Item, node: int, motion: NodeMotion, clock: Clock, fcurves: FCurves, prior: Float64Array
) -> Match | None:
    """Return the match of an item that shares the motion's origin, or None without a common animated property."""
    tracks = {name: track for name, track in motion.tracks.items() if item.path(name) in fcurves}
    if not tracks:
        return None
    file = {"translation": np.zeros((1, 3)), "rotation": _IDENTITY[np.newaxis], "scale": np.ones((1, 3))}
    # Without rotation keys, the ancestors decide how the item is turned relative to the node.
    blender = {**file, "rotation": prior[np.newaxis]}
    unkeyed = 0
    for name, track in tracks.items():
        # All components have keys in the file at these times.
        times = track.shared_times
        keyed = [read_coordinates(fcurve)[::2] for fcurve in fcurves[item.path(name)].values()]
        is_keyed = is_among(clock.frames(times).astype(np.float32), union(keyed), _SAME_KEY)
        unkeyed += int(np.count_nonzero(~is_keyed))
        times = times[is_keyed] if is_keyed.any() else times
        times = times[:: max(1, len(times) // _MOST_POSES)]
        file[name] = track.evaluate(times)
        blender[name] = item.played(name, fcurves, clock.frames(times))
    conversion = find_conversion(file, blender, prior)
    return Match(item, node, motion, prior, conversion, _misfit(item, tracks, conversion, file, blender), unkeyed)


def _misfit(
    item: Item, tracks: Mapping[str, Track], conversion: NodeConversion, file: Poses, blender: Poses
) -> Finding | None:
    for name in tracks:
        converted, expected = conversion.converted(name, file[name]), blender[name]
        if name == "rotation":
            deviation = rotations.angle_between(converted, expected)
            allowed = _ANGLES_FIT
        else:
            deviation = np.abs(converted - expected).max(axis=1)
            value_range, largest = float(np.ptp(expected, axis=0).max()), float(np.abs(expected).max())
            allowed = _VALUES_FIT * value_range + _ROUNDED * largest + 1e-6
        if deviation.max() > allowed:
            size = size_of(float(deviation.max()), name == "rotation")
            return Finding("DIFFERS_FROM_FILE", name_of(item.owner), item.path(name), arguments=(size,))
    return None


class Matcher:
    """The nodes of a file, which are matched with items from the top of the hierarchy down."""

    def __init__(self, file: MotionFile, items: Sequence[Item]) -> None:
        self.file = file
        self.items = items
        self.axes = _axes_candidates(file)
        self.first_axes = 0
        """The number of the axes to try first."""
        self._by_name: dict[str, list[int]] = {}
        for index, node in enumerate(file.nodes):
            # JSON can contain half of a surrogate pair, which Blender's names cannot.
            name = node.name.encode(errors="replace")[:_LONGEST].decode(errors="ignore")
            self._by_name.setdefault(name, []).append(index)

    def candidates(self, item: Item) -> list[int]:
        """Return the nodes whose names match an item's name, with or without the number that Blender adds."""
        exact = self._by_name.get(item.name, [])
        bare = _SUFFIX.sub("", item.name)
        return [*exact, *(self._by_name.get(bare, []) if bare != item.name else [])]

    def matches(self, take: Take, clock: Clock, owner: bpy.types.Object, fcurves: FCurves) -> tuple[list[Match], int]:
        """Return an object's items that the take animates, and the number of the axes.

        The axes are those that the fewest top-level items contradict.

        `fcurves` contains the F-curves of `owner`. Its parents only determine the turn of its items.
        """
        best: list[Match] = []
        best_axes, fewest_conflicts = 0, np.inf
        for number in dict.fromkeys((self.first_axes, *range(len(self.axes)))):
            matches, conflicts = self._matches(take, clock, owner, fcurves, self.axes[number])
            if conflicts < fewest_conflicts:
                best, best_axes, fewest_conflicts = matches, number, conflicts
            if conflicts == 0:
                break
        return best, best_axes

    def _matches(
        self, take: Take, clock: Clock, owner: bpy.types.Object, fcurves: FCurves, axes: Float64Array
    ) -> tuple[list[Match], int]:
        """Return the matches for these axes, and the number of top-level items that contradict the axes."""
        places: dict[Item | None, _Place] = {None: _Place(-1, rotations.conjugate(axes))}
        matches: list[Match] = []
        conflicts = 0
        for item in self.items:
            above = places[item.parent]
            place = _Place(above.node, rotations.multiply(above.turn, item.space))
            match = self._best_match(item, take, clock, fcurves, place) if item.owner == owner else None
            if match is None:
                places[item] = self._still_place(item, take, place)
                continue
            matches.append(match)
            places[item] = _Place(match.node, match.conversion.own)
            is_conflict = rotations.angle_between(match.conversion.turn, match.prior) > _SAME_AXES
            conflicts += int(above.node < 0 and is_conflict)
        return matches, conflicts

    def _best_match(self, item: Item, take: Take, clock: Clock, fcurves: FCurves, place: _Place) -> Match | None:
        """Return the first match that fits, otherwise the last one, or None."""
        best = None
        for node in self.candidates(item):
            motion = take.motions.get(node)
            if motion is None:
                continue
            chain = _turn_between(self.file.nodes, place.node, node)
            prior = rotations.multiply(rotations.conjugate(place.turn), _IDENTITY if chain is None else chain)
            match = _match(item, node, motion, clock, fcurves, prior)
            if match is not None and match.misfit and motion.pivot is not None:
                # An importer may have moved the origin to the pivot.
                about_pivot = _match(item, node, motion.about_pivot(), clock, fcurves, prior)
                match = about_pivot if about_pivot is not None and not about_pivot.misfit else match
            best = match or best
            if best is not None and not best.misfit:
                break
        return best

    def _still_place(self, item: Item, take: Take, place: _Place) -> _Place:
        """Return the place of an item without a match, which is the parent's node if no node has its name."""
        inner = rotations.multiply(place.turn, item.rotation)
        still_place = _Place(place.node, inner)
        for node in self.candidates(item):
            chain = _turn_between(self.file.nodes, place.node, node)
            if node not in take.motions and chain is not None:
                node_turn = rotations.multiply(chain, self.file.nodes[node].rotation)
                still_place = _Place(node, rotations.multiply(rotations.conjugate(node_turn), inner))
        return still_place


class _Place(NamedTuple):
    """The node to which an item belongs, or -1 for none, and the turn of the item within the node."""

    node: int
    turn: Float64Array


def _axes_candidates(file: MotionFile) -> list[Float64Array]:
    """Return candidate axes: the rotation declared in the file, the identity, and all right-angle rotations."""
    candidates = [file.to_blender, _IDENTITY]
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[np.arange(3), order] = signs
            if np.linalg.det(matrix) > 0.0:
                candidates.append(rotations.from_matrix(matrix))
    return candidates


def _turn_between(nodes: tuple[Node, ...], above: int, node: int) -> Float64Array | None:
    """Return the rotation of the nodes strictly between `above` and `node`, or None if `above` is not an ancestor."""
    q = _IDENTITY
    parent = nodes[node].parent
    while parent not in (above, -1):
        q = rotations.multiply(nodes[parent].rotation, q)
        parent = nodes[parent].parent
    return q if parent == above else None


# Actions and takes


@dataclass(frozen=True, eq=False)
class MatchedAction:
    """An action of an object, with the take that it plays and the matches of the object's items."""

    channels: Channels
    take: Take
    clock: Clock
    matches: list[Match]
    axes: int
    """The number of the axes for which the conversions were found."""


def matched_actions(matcher: Matcher, report: Report) -> list[MatchedAction]:
    """Return the actions of the items' owners that match a take. Add actions that can't be edited to the report.

    The options of an importer may change the axes. Some actions do not determine them, such as keys on a line. These
    actions get the axes of the others.
    """
    owners = dict.fromkeys(item.owner for item in matcher.items)
    actions = [(owner, channels) for owner in owners for channels in _actions_of(owner, report)]
    best = matched = _with_best_takes(matcher, actions)
    fewest_conflicts = sum(action.axes != 0 for action in matched)
    most_common = Counter(action.axes for action in matched).most_common(_MOST_AXES)
    for axes in [axes for axes, _ in most_common if axes != 0]:
        matcher.first_axes = axes
        matched = _with_best_takes(matcher, actions)
        conflicts = sum(action.axes != axes for action in matched)
        if conflicts < fewest_conflicts:
            best, fewest_conflicts = matched, conflicts
        if conflicts == 0:
            break
    return best


def _with_best_takes(matcher: Matcher, actions: Iterable[tuple[bpy.types.Object, Channels]]) -> list[MatchedAction]:
    best_takes = (_with_best_take(matcher, owner, channels) for owner, channels in actions)
    return [action for action in best_takes if action is not None]


def _actions_of(owner: bpy.types.Object, report: Report) -> Iterator[Channels]:
    """Yield the action of an object, and the actions that importers placed in its NLA tracks."""
    data: Any = animation_data(owner)
    if data is None:
        return
    yielded = set()
    if data.action is not None:
        try:
            channels = check_editable(owner)
        except AnimationError as refusal:
            report.errors += [finding for finding in refusal.findings if not finding.has_nothing_to_do]
        else:
            yielded.add(channels.identity)
            yield channels
    for strip in (strip for track in data.nla_tracks for strip in track.strips):
        action = strip.action
        if action is None or action.library is not None or owner.library is not None:
            continue
        for channels in channels_in(action):
            is_played = not HAS_SLOTS or (strip.action_slot and strip.action_slot.handle == channels.slot_handle)
            if is_played and channels.identity not in yielded:
                yielded.add(channels.identity)
                yield channels


def _with_best_take(matcher: Matcher, owner: bpy.types.Object, channels: Channels) -> MatchedAction | None:
    """Return an owner's action with the take that fits best, or None."""
    fcurves = by_path(fcurve for fcurve in channels if len(fcurve.keyframe_points))
    best: MatchedAction | None = None
    fewest_faults = np.inf, np.inf
    action = channels.action.name
    # Takes that are named in the action come first. An importer may have created an action from one of their layers.
    takes = sorted(matcher.file.takes, key=lambda take: not take.name or take.name not in action)
    layers = [(take, layer) for take in takes for layer in (take, *take.layers)]
    for take, layer in layers:
        clock = _clock(matcher, layer, owner, fcurves)
        if clock is None:
            continue
        matches, axes = matcher.matches(layer, clock, owner, fcurves)
        if not matches:
            continue
        # Poses that do not fit, and keys of the file that are missing in the F-curves.
        faults = sum(match.misfit is not None for match in matches), sum(match.unkeyed for match in matches)
        if best is None or faults < fewest_faults:
            whole_matches = matches if layer is take else _with_all_layers(matches, layer, take)
            best, fewest_faults = MatchedAction(channels, take, clock, whole_matches, axes), faults
        if not any(faults):
            break
    return best


def _clock(matcher: Matcher, take: Take, owner: bpy.types.Object, fcurves: FCurves) -> Clock | None:
    """Return the conversion of the take's times to the frames of the owner's keys, or None without common items."""
    key_frames_by_prefix: dict[str, list[Float64Array]] = {}
    for path, fcurves_of_property in fcurves.items():
        frames = [read_coordinates(fcurve)[::2].astype(np.float64) for fcurve in fcurves_of_property.values()]
        key_frames_by_prefix.setdefault(path.rpartition(".")[0], []).extend(frames)
    pairs = []
    for item in matcher.items:
        key_frames = key_frames_by_prefix.get(item.prefix.removesuffix("."), []) if item.owner == owner else []
        for node in matcher.candidates(item) if key_frames else ():
            if node in take.motions:
                pairs.append((take.motions[node], np.concatenate(key_frames)))
    return Clock.find(pairs, frame_rate(bpy.context.scene))


def _with_all_layers(matches: Sequence[Match], layer: Take, take: Take) -> list[Match]:
    """Return matches found from an action of one layer, with the combined motion of all layers."""
    combined = []
    for match in matches:
        whole = take.motions[match.node]
        is_about_pivot = match.motion is not layer.motions[match.node]
        combined.append(replace(match, motion=whole.about_pivot() if is_about_pivot else whole))
    return combined
