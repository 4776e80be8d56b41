# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that repair rotations that flip or jump between keys, shorten turns, and key all rotation channels."""

from __future__ import annotations

from typing import Any

import bpy

from .. import animation
from ..animation.datablocks import name_of
from ..animation.errors import AnimationError
from ..animation.options import FIX_ROTATIONS
from ..animation.track_names import track_name
from ..animation.translation import counted, n_, rpt_
from ..ui import selection
from ..ui.operator_results import Status, errors_in, finish, result_notes
from ..ui.option_properties import property_of
from ..ui.properties import show_findings
from .on_selection import OnSelection, poll_selection


class TCB_OT_fix_rotations(bpy.types.Operator):
    """Repair rotations that flip or jump between keys, without changing poses"""

    bl_idname = "tcb.fix_rotations"
    bl_label = "Fix Rotations"
    bl_options = {"REGISTER", "UNDO"}

    turns: property_of(FIX_ROTATIONS["turns"])

    poll = classmethod(poll_selection)

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, use_data=False)
        report = animation.fix_rotations_many(selected, turns=self.turns)
        rows = [row for obj, prefixes in selected.items() for row in _remaining_faults(obj, prefixes, self.turns)]
        result = counted(len(rows), n_("{:,} rotation fault remains"), n_("{:,} rotation faults remain"))
        show_findings(context.window_manager, result, rows)
        # Show the first remaining fault, such as a turn of more than 180 degrees, because users ask about it most
        # often.
        nothing_repaired = f"{result}: {rows[0]['name']}" if rows else n_("No rotation faults found")
        status = finish(self, report, rpt_("Repaired rotations: {:s}", report.counts), nothing_repaired)
        return {"FINISHED"} if rows else status


def _remaining_faults(obj: Any, prefixes: list[str] | None, turns: Any) -> list[dict[str, Any]]:
    """Return the remaining faults as properties of `TCBFinding`, or none if the object could not be repaired."""
    try:
        faults = animation.find_rotation_faults(obj, prefixes, turns)
    except AnimationError:
        return []
    bone_names = {} if obj.pose is None else {bone.path_from_id(): bone.name for bone in obj.pose.bones}
    return [
        {
            "item": obj.name,
            "bone": bone_names.get(fault.track.rpartition(".")[0], ""),
            "frame": fault.frames[0],
            "place": rpt_("frame {:g}", fault.frames[0])
            if len(fault.frames) == 1
            else rpt_("{:d} frames", len(fault.frames)),
            "track": track_name(fault.track),
            "name": fault.finding.message,
        }
        for fault in faults
    ]


class TCB_OT_key_whole(OnSelection, bpy.types.Operator):
    """Key all channels of a rotation at frames where any channel has a key"""

    bl_idname = "tcb.key_whole"
    bl_label = "Key All Rotation Channels"

    work = staticmethod(animation.key_whole_many)
    done = n_("Keyed all rotation channels of {:s}")
    otherwise = n_("All rotation channels are already keyed at the same frames")


class TCB_OT_turns_shortest(bpy.types.Operator):
    """Take the shortest path to the keys named in this message"""

    bl_idname = "tcb.turns_shortest"
    bl_label = "Set Turns to Shortest"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        if any(note.code == "TURNS_KEPT" for note in result_notes()):
            return True
        cls.poll_message_set("No message about long turns")
        return False

    def execute(self, context: Any) -> Status:
        paths_by_object: dict[str, list[str]] = {}
        for note in result_notes():
            if note.code == "TURNS_KEPT":
                paths_by_object.setdefault(note.object, []).append(note.track)
        report = animation.Report()
        for obj in context.scene.objects:
            for path in paths_by_object.get(name_of(obj), ()):
                with errors_in(report):
                    animation.choose(obj, path, path="SHORTEST")
                    report.tracks += 1
        return finish(self, report, rpt_("Turns are now Shortest on {:s}", report.counts))
