# SPDX-License-Identifier: GPL-3.0-or-later
"""Match objects and bones with the nodes of a file, from the top of the hierarchy down."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...formats.motion import MotionFile, Node, Take
from ...interp import rotations
from ...interp.keys import Float64Array
from .clock import Clock
from .items import FCurves, Item
from .match import Match, match_with_node

_SUFFIX = re.compile(r"\.\d{3,}$")
_LONGEST = 63
"""Maximum length of names in Blender, in bytes. Importers truncate longer names."""
_IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
_SAME_AXES = 1e-2
"""Maximum angle between the turn found from poses and the turn implied by ancestor nodes, in radians."""


class Matcher:
    """The nodes of a file, which are matched with items from the top of the hierarchy down."""

    def __init__(self, file: MotionFile, items: Sequence[Item]) -> None:
        self.file = file
        self.items = items
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

    def matches(self, take: Take, clock: Clock, owner: bpy.types.Object, fcurves: FCurves) -> list[Match]:
        """Return an object's items that the take animates, with their conversions.

        The options of an importer may change the axes. The axes that the fewest top-level items contradict are used.
        `fcurves` contains the F-curves of `owner`. Its parents only determine the turn of its items.
        """
        best: list[Match] = []
        fewest_conflicts = np.inf
        for axes in _axes_candidates(self.file):
            matches, conflicts = self._matches(take, clock, owner, fcurves, axes)
            if conflicts < fewest_conflicts:
                best, fewest_conflicts = matches, conflicts
            if conflicts == 0:
                break
        return best

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
            match = match_with_node(item, node, motion, clock, fcurves, prior)
            if match is not None:
                best = match
                if not match.misfit:
                    break
        return best

    def _still_place(self, item: Item, take: Take, place: _Place) -> _Place:
        """Return the place of an item without a match.

        If no node of that name exists below the parent's node, this is the parent's node.
        """
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


def _turn_between(nodes: tuple[Node, ...], above: int, node: int) -> Float64Array | None:
    """Return the rotation of the nodes strictly between `above` and `node`, or None if `above` is not an ancestor."""
    q = np.array([1.0, 0.0, 0.0, 0.0])
    parent = nodes[node].parent
    while parent not in (above, -1):
        q = rotations.multiply(nodes[parent].rotation, q)
        parent = nodes[parent].parent
    return q if parent == above else None
