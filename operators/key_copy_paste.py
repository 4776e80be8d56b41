# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy parameters, and velocities where the method goes by them, from keys to keys."""

from __future__ import annotations

import bpy

from ..animation.edit.parameters.paste import CopiedKey, assign_to_keys, copied_keys, paste
from ..animation.edit.track_keys import TrackKeys
from ..animation.errors import AnimationError
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.reporting import NO_OWN_KEY_SELECTED, Status, finish, for_each_of, poll_keys

_copied: list[tuple[str, list[CopiedKey]]] = []
"""The keys that were copied last, in order of frame, with the path of each track."""


def _copied_count() -> int:
    return sum(len(keys) for _, keys in _copied)


class TCB_OT_key_copy(bpy.types.Operator):
    """Copy TCB parameters and velocities of these keys"""

    bl_idname = "tcb.key_copy"
    bl_label = "Copy TCB Parameters"
    # No undo step: what is copied is kept outside Blender's data.
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        defaults = selection.default_parameters(context)
        try:
            copied = [(keys.track.path, copied_keys(keys, defaults)) for keys in selection.chosen_keys(context)]
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        if not copied:
            self.report({"ERROR"}, NO_OWN_KEY_SELECTED)
            return {"CANCELLED"}
        _copied[:] = copied
        self.report({"INFO"}, rpt_("Copied the parameters of keys: {:d}", _copied_count()))
        return {"FINISHED"}


class TCB_OT_key_paste(bpy.types.Operator):
    """Paste copied parameters to these keys, in order or one key's to all"""

    bl_idname = "tcb.key_paste"
    bl_label = "Paste TCB Parameters"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _copied:
            cls.poll_message_set("Copy the parameters of keys first")
            return False
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        chosen = selection.chosen_keys(context)
        pasted = assign_to_keys(_copied, chosen)
        if pasted is None:
            count = sum(len(keys) for keys in chosen)
            text = rpt_("{:d} different keys were copied, and {:d} are selected", _copied_count(), count)
            self.report({"ERROR"}, text)
            return {"CANCELLED"}
        copied = iter(pasted)
        defaults = selection.default_parameters(context)
        notes = []

        def paste_next(keys: TrackKeys) -> None:
            left = paste(keys, next(copied), defaults)
            if left:
                notes.append(keys.track.finding(left))

        report = for_each_of(chosen, paste_next)
        report.notes += notes
        return finish(self, report, rpt_("Pasted to {:s}", report.counts), NO_OWN_KEY_SELECTED)
