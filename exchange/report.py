# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the data that an import or export created, matched and skipped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import bpy

from ..animation import Report
from ..animation.errors import Finding
from ..animation.translation import counted, n_, rpt_
from ..formats import three_ds

_NAMES = {
    "object": (n_("{:,} object"), n_("{:,} objects")),
    "mesh": (n_("{:,} mesh"), n_("{:,} meshes")),
    "empty": (n_("{:,} empty"), n_("{:,} empties")),
    "camera": (n_("{:,} camera"), n_("{:,} cameras")),
    "camera_target": (n_("{:,} camera target"), n_("{:,} camera targets")),
    "light": (n_("{:,} light"), n_("{:,} lights")),
    "spotlight": (n_("{:,} spotlight"), n_("{:,} spotlights")),
    "light_target": (n_("{:,} light target"), n_("{:,} light targets")),
    "ambient": (n_("{:,} ambient light"), n_("{:,} ambient lights")),
    "world": (n_("{:,} world"), n_("{:,} worlds")),
    "material": (n_("{:,} material"), n_("{:,} materials")),
    "smoothing_group": (n_("{:,} smoothing group"), n_("{:,} smoothing groups")),
    "smooth_mesh": (n_("the smooth shading of {:,} mesh"), n_("the smooth shading of {:,} meshes")),
    "degenerate_face": (n_("{:,} degenerate face"), n_("{:,} degenerate faces")),
    "doubled_face": (n_("{:,} doubled face"), n_("{:,} doubled faces")),
    "track": (n_("{:,} track"), n_("{:,} tracks")),
    "track_that_cycles": (n_("{:,} track that cycles"), n_("{:,} tracks that cycle")),
    "key": (n_("{:,} key"), n_("{:,} keys")),
    "key_with_parameters": (n_("{:,} key with parameters"), n_("{:,} keys with parameters")),
    "property_without_key": (n_("{:,} property set without a key"), n_("{:,} properties set without a key")),
}
"""Singular and plural names for counts."""


@dataclass
class Exchanged:
    """The counts and notes of an exchange, accumulated over files."""

    made: Counter[str] = field(default_factory=Counter)
    """New objects or nodes of each type, tracks and keys."""
    matched: dict[str, str] = field(default_factory=dict)
    """Nodes, and the objects that received their animation."""
    damage: list[Finding] = field(default_factory=list)
    """Data of a damaged file that could not be read."""
    notes: list[Finding] = field(default_factory=list)
    """Data that was skipped or differs from the file, with the reasons."""
    items: list[bpy.types.Object] = field(default_factory=list)
    """Objects that were created or matched."""
    animated: list[Any] = field(default_factory=list)
    """Datablocks with TCB tracks."""
    cyclic: dict[bpy.types.ID, tuple[float, float]] = field(default_factory=dict)
    """Datablocks with cyclic tracks, and the frames of their first and last keys."""
    baked: Report = field(default_factory=Report)

    def add(self, other: Exchanged) -> None:
        self.made += other.made
        self.matched |= other.matched
        self.damage += other.damage
        self.notes += other.notes
        self.animated += other.animated
        self.items += other.items
        self.cyclic |= other.cyclic
        self.baked.add(other.baked)

    def summed(self) -> Report:
        """Return the created data as the report of a bake."""
        return replace(
            self.baked,
            datablocks=len(self.animated),
            objects=sum(isinstance(datablock, bpy.types.Object) for datablock in self.animated),
            tracks=self.made["track"],
            keys=self.made["key"],
            errors=[],
            notes=[],
        )

    def lines(self) -> list[Finding]:
        """Return lines about the data that was created and matched."""
        lines = [Finding("MADE", arguments=(_counted(self.made),))]
        if self.matched:
            pairs = (
                f'"{node}"' if node == obj else rpt_('"{:s}" is "{:s}"', node, obj)
                for node, obj in self.matched.items()
            )
            lines.append(Finding("MATCHED", arguments=(len(self.matched), ", ".join(pairs))))
        return lines

    def note_left_out(self, left_out: Counter[str]) -> None:
        """Note the amount of skipped data by kind."""
        if left_out.total():
            self.notes.append(Finding("LEFT_OUT", arguments=(_counted(left_out),)))


def counts_of_file(scene: three_ds.Scene) -> Counter[str]:
    """Return the numbers of nodes of each kind, tracks and keys of a file."""
    counts = Counter(node.kind.lower() for node in scene.nodes)
    tracks = [track for node in scene.nodes for track in node.tracks]
    counts["track"] += len(tracks)
    counts["key"] += sum(len(track.frames) for track in tracks)
    counts["key_with_parameters"] += sum(int((track.parameters != 0).any(axis=0).sum()) for track in tracks)
    counts["track_that_cycles"] += sum(track.cycle != "SINGLE" for track in tracks)
    return counts


def _counted(counts: Counter[str]) -> str:
    """Return the counts as text, such as "2 meshes, 1 camera"."""
    return ", ".join(counted(count, *_NAMES[kind]) for kind, count in counts.items() if count) or rpt_("nothing")
