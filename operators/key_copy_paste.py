# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that copy and paste parameters of keys."""

from __future__ import annotations

import bpy

from ..animation import AnimationError
from ..animation.edit.paste import CopiedKey, assign_to_keys, copied_keys, paste
from ..animation.edit.track_keys import TrackKeys
from ..animation.translation import rpt_
from ..ui.chosen_keys import chosen_keys
from ..ui.operator_results import Status, finish, for_each_edited_track, refuse
from ..ui.scene import defaults_of
from .on_selection import NO_OWN_KEY_SELECTED, OnKeys

_copied: list[tuple[str, list[CopiedKey]]] = []
"""The last copied keys, ordered by frame, with the path of each track."""


def _copied_count() -> int:
    return sum(len(keys) for _, keys in _copied)


class TCB_OT_key_copy(OnKeys, bpy.types.Operator):
    """Copy TCB parameters and velocities of the selected or shown keys"""

    bl_idname = "tcb.key_copy"
    bl_label = "Copy TCB Parameters"
    # No undo step, because copied keys are not part of Blender's data.
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> Status:
        defaults = defaults_of(context.scene)
        try:
            copied = [(keys.track.path, copied_keys(keys, defaults)) for keys in chosen_keys(context)]
        except AnimationError as refusal:
            return refuse(self, refusal)
        if not copied:
            return refuse(self, NO_OWN_KEY_SELECTED)
        _copied[:] = copied
        self.report({"INFO"}, rpt_("Keys with copied parameters: {:d}", _copied_count()))
        return {"FINISHED"}


class TCB_OT_key_paste(OnKeys, bpy.types.Operator):
    """Paste copied parameters onto selected or shown keys, in order or from one key"""

    bl_idname = "tcb.key_paste"
    bl_label = "Paste TCB Parameters"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _copied:
            cls.poll_message_set("No copied parameters. Copy parameters first")
            return False
        return super().poll(context)

    def execute(self, context: bpy.types.Context) -> Status:
        chosen = chosen_keys(context)
        copied_keys_by_track = assign_to_keys(_copied, chosen)
        if copied_keys_by_track is None:
            count = sum(len(keys) for keys in chosen)
            text = rpt_(
                "The number of copied keys, {:d}, differs from the number of selected keys, {:d}",
                _copied_count(),
                count,
            )
            return refuse(self, text)
        next_copied_keys = iter(copied_keys_by_track)
        defaults = defaults_of(context.scene)
        notes = []

        def paste_next(keys: TrackKeys) -> None:
            note_code = paste(keys, next(next_copied_keys), defaults)
            if note_code:
                notes.append(keys.track.finding(note_code))

        report = for_each_edited_track(chosen, defaults, paste_next)
        report.notes += notes
        return finish(self, report, rpt_("Pasted to {:s}", report.counts), NO_OWN_KEY_SELECTED)
