# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of an import or export: the data that was created, matched and skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import bpy

from ..animation import Report
from ..animation.report import Finding
from ..animation.text import counted, n_, rpt_
from ..formats import three_ds

AddNote = Callable[..., None]
"""A function that adds a note, called with its code, its arguments, and the affected track as `track`."""
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


def note(notes: list[Finding], name: str, code: str, *arguments: Any, track: str = "") -> None:
    """Add a note on an object or one of its tracks."""
    notes.append(Finding(code, name, track, arguments=arguments))


def drop_note(*_code: object, **_track: object) -> None:
    """Discard a note that the user does not need."""


@dataclass
class ExchangeReport:
    """The counts and notes of an exchange, accumulated over files."""

    counts: Counter[str] = field(default_factory=Counter)
    """Numbers of new objects or nodes of each type, of tracks and of keys, by the names in `_NAMES`."""
    object_of_node: dict[str, str] = field(default_factory=dict)
    """The name of the object that received the animation of each node, by the name of the node."""
    damage: list[Finding] = field(default_factory=list)
    """Data of a damaged file that could not be read."""
    notes: list[Finding] = field(default_factory=list)
    """Data that was skipped or differs from the file, with the reasons."""
    objects: list[bpy.types.Object] = field(default_factory=list)
    """Objects that were created or matched."""
    animated_datablocks: list[Any] = field(default_factory=list)
    """Datablocks with TCB tracks."""
    ends_of_cycles: dict[bpy.types.ID, tuple[float, float]] = field(default_factory=dict)
    """Datablocks with cyclic tracks, and the frames of their first and last keys."""
    baked: Report = field(default_factory=Report)

    def as_bake_report(self) -> Report:
        """Return the report of the bake, with the counts of the imported data and without errors and notes."""
        return replace(
            self.baked,
            datablocks=len(self.animated_datablocks),
            objects=sum(isinstance(datablock, bpy.types.Object) for datablock in self.animated_datablocks),
            tracks=self.counts["track"],
            keys=self.counts["key"],
            errors=[],
            notes=[],
        )

    def summary(self, code: str = "MADE") -> list[Finding]:
        """Return findings that list the data that was created, or exported ("EXPORTED"), and matched."""
        lines = [Finding(code, arguments=(_counted(self.counts),))]
        if self.object_of_node:
            pairs = (
                f'"{node}"' if node == obj else rpt_('"{:s}" is "{:s}"', node, obj)
                for node, obj in self.object_of_node.items()
            )
            lines.append(Finding("MATCHED", arguments=(len(self.object_of_node), ", ".join(pairs))))
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
