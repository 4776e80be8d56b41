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
from ..ui import findings, selection
from ..ui.operator_results import Status, finish, poll_selection
from ..ui.option_properties import property_of
from ..ui.result_notes import result_notes
from .on_selection import OnSelection


class TCB_OT_fix_rotations(bpy.types.Operator):
    """Repair rotations that flip or jump between keys, without changing poses"""

    bl_idname = "tcb.fix_rotations"
    bl_label = "Fix Rotations"
    bl_options = {"REGISTER", "UNDO"}

    turns: property_of(FIX_ROTATIONS["turns"])

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        return poll_selection(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, use_data=False)
        report = animation.fix_rotations_many(selected, turns=self.turns)
        left = [fault for each in selected.items() for fault in _faults(*each, turns=self.turns)]
        found = [
            {
                "item": owner.name,
                "bone": bone,
                "frame": fault.frames[0],
                "place": _frames(fault),
                "track": track_name(fault.track),
                "name": fault.finding.message,
            }
            for owner, bone, fault in left
        ]
        result = counted(len(found), n_("{:,} rotation fault remains"), n_("{:,} rotation faults remain"))
        findings.show_findings(context.window_manager, result, found)
        # Show the first remaining fault, such as a turn of more than 180 degrees, because users ask about it most
        # often.
        nothing = f"{result}: {found[0]['name']}" if found else n_("No rotation faults found")
        done = finish(self, report, rpt_("Repaired rotations: {:s}", report.counts), nothing)
        return {"FINISHED"} if found else done


def _faults(
    datablock: bpy.types.ID, prefixes: list[str] | None, turns: Any
) -> list[tuple[bpy.types.Object, str, animation.RotationFault]]:
    """Return the remaining faults with their objects and bones.

    The list is empty if the datablock cannot be repaired.
    """
    try:
        found = animation.find_rotation_faults(datablock, prefixes, turns)
    except AnimationError:
        return []
    owner: Any = datablock
    bones = {} if owner.pose is None else {bone.path_from_id(): bone.name for bone in owner.pose.bones}
    return [(owner, bones.get(fault.track.rpartition(".")[0], ""), fault) for fault in found]


def _frames(fault: animation.RotationFault) -> str:
    return rpt_("frame {:g}", fault.frames[0]) if len(fault.frames) == 1 else rpt_("{:d} frames", len(fault.frames))


class TCB_OT_key_whole(OnSelection, bpy.types.Operator):
    """Key all channels of a rotation at frames where any channel has a key"""

    bl_idname = "tcb.key_whole"
    bl_label = "Key All Rotation Channels"

    work = staticmethod(animation.key_whole)
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

    def execute(self, context: bpy.types.Context) -> Status:
        paths: dict[str, list[str]] = {}
        for note in result_notes():
            if note.code == "TURNS_KEPT":
                paths.setdefault(note.object, []).append(note.track)
        scene: Any = context.scene
        report = animation.Report()
        for obj in scene.objects:
            for path in paths.get(name_of(obj), ()):
                try:
                    animation.choose(obj, path, path="SHORTEST")
                except AnimationError as error:
                    report.errors += error.findings
                    continue
                report.tracks += 1
        return finish(self, report, rpt_("Turns are now Shortest on {:s}", report.counts))
