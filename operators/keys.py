# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators on keys: Reset, Jump to Key, Make Free, Make Bezier, Use TCB, Make TCB Key, Copy and Paste."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty

from ..animation import AnimationError, Report, choose
from ..animation.checks.shown_key import AT
from ..animation.edit.keys import free_handles, make_key
from ..animation.edit.parameters import CopiedKey, assign_to_keys, copied_keys, make_bezier, paste, reset
from ..animation.edit.track_keys import TrackKeys
from ..animation.fcurves.keyframes import Float32Array
from ..animation.scene_time import scene_frame
from ..animation.text import n_, rpt_
from ..ui import sidebar_tracks
from ..ui.chosen_keys import chosen_keys, in_animation_editor, shown_keys
from ..ui.operator_results import Status, errors_in, finish, for_each_edited_track, for_each_track, refuse
from ..ui.scene import action_frame, defaults_of, go_to
from .on_selection import NO_OWN_KEY_SELECTED, OnKeys, OnShownAndSelectedKeys


class TCB_OT_key_reset(OnKeys, bpy.types.Operator):
    """Reset the selected or shown keys to the default parameters"""

    bl_idname = "tcb.key_reset"
    bl_label = "Reset TCB Parameters"

    def execute(self, context: bpy.types.Context) -> Status:
        report = for_each_track(chosen_keys(context), reset)
        return finish(self, report, rpt_("Reset {:s}", report.counts), NO_OWN_KEY_SELECTED)


class TCB_OT_key_jump(bpy.types.Operator):
    """Jump to the next or previous key, skipping generated keys"""

    bl_idname = "tcb.key_jump"
    bl_label = "Jump to TCB Key"
    # As with Blender's own jumps, consecutive jumps share one undo step.
    bl_options = {"REGISTER", "UNDO_GROUPED"}
    bl_undo_group = n_("Frame Change")

    direction: EnumProperty(
        name="Direction",
        description="Direction in time",
        items=[("NEXT", "Next", "The next key"), ("PREVIOUS", "Previous", "The previous key")],
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if in_animation_editor(context):
            return True
        if sidebar_tracks.active_track(context) is None:
            cls.poll_message_set("The active object has no tracks")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        step = 1 if self.direction == "NEXT" else -1
        frames = []
        for keys in shown_keys(context):
            frame = _next_frame(keys.frames, action_frame(context, keys.datablock), step)
            if frame is not None:
                frames.append(scene_frame(keys.datablock, frame))
        if not frames:
            self.report({"INFO"}, "No next key" if step > 0 else "No previous key")
            return {"CANCELLED"}
        go_to(context.scene, min(frames) if step > 0 else max(frames))
        return {"FINISHED"}


def _next_frame(frames: Float32Array, frame: float, step: int) -> float | None:
    """Return the next frame of ascending frames (`step` 1) or the previous frame (-1), or None if there is none."""
    beyond = frames[frames > frame + AT] if step > 0 else frames[frames < frame - AT]
    return float(beyond[0 if step > 0 else -1]) if len(beyond) else None


class TCB_OT_handles_free(OnShownAndSelectedKeys, bpy.types.Operator):
    """Make handles of the selected and shown keys Free, so that sliders have an effect"""

    bl_idname = "tcb.handles_free"
    bl_label = "Make Free"

    work = staticmethod(free_handles)
    done = n_("Made the handles of {:s} Free")


class TCB_OT_key_bezier(OnShownAndSelectedKeys, bpy.types.Operator):
    """Set the selected and shown keys, and the keys before them, to Bezier"""

    bl_idname = "tcb.key_bezier"
    bl_label = "Make Bezier"

    work = staticmethod(make_bezier)
    done = n_("Made {:s} Bezier")
    makes_tcb = True


class TCB_OT_key_use_tcb(OnShownAndSelectedKeys, bpy.types.Operator):
    """Use the TCB method on tracks of the selected and shown keys"""

    bl_idname = "tcb.key_use_tcb"
    bl_label = "Use TCB"

    done = n_("Set the method of {:s} to TCB")

    @staticmethod
    def work(keys: TrackKeys) -> None:
        if not keys.track.enabled:
            # `choose` would enable a plain track.
            raise AnimationError(keys.track.finding("NOT_TCB"))
        choose(keys.datablock, keys.track.path, method="TCB")


class TCB_OT_make_key(bpy.types.Operator):
    """Key the motion at the current frame in all listed TCB tracks"""

    bl_idname = "tcb.make_key"
    bl_label = "Make TCB Key"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if any(track.enabled for _, track in sidebar_tracks.active_tracks(context)):
            return True
        cls.poll_message_set("The active object has no TCB track")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        report = Report()
        for datablock, track in sidebar_tracks.active_tracks(context):
            if not track.enabled:
                continue
            with errors_in(report):
                make_key(datablock, track, action_frame(context, datablock))
                report.tracks += 1
                report.changed_keys += 1
        return finish(self, report, rpt_("Created {:s}", report.counts))


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
