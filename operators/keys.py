# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that set, reset, copy, paste, insert and find keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, StringProperty

from ..animation import AnimationError, Report, choose, find_track
from ..animation.checks.key_info import AT
from ..animation.edit.free_and_bezier import free_handles, make_bezier
from ..animation.edit.keys import make_key
from ..animation.edit.paste import CopiedKey, assign_to_keys, copied_keys, paste
from ..animation.edit.recorded_tracks import RecordedTrack, record_tracks, revert_tracks
from ..animation.edit.set_parameters import reset, set_parameters
from ..animation.edit.track_keys import TrackKeys, interpolations_of, key_at, read_again
from ..animation.fcurves.keyframes import Float32Array
from ..animation.scene_time import scene_frame
from ..animation.store.parameters import velocity_size
from ..animation.store.table.rows import PARAMETERS, VELOCITY, velocity_of
from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.chosen_keys import chosen_keys, chosen_parameters, in_animation_editor, shown_keys
from ..ui.operator_results import (
    NO_OWN_KEY_SELECTED,
    Status,
    errors_in,
    finish,
    for_each_of,
    for_each_track,
    poll_keys,
    poll_selection,
    refuse,
)
from ..ui.redraw import layout_of, redraw_editors
from ..ui.sliders.key_fields import Of50, parameter, shown_names
from ..ui.sliders.slider_drag import is_mixed
from .on_selection import OnKeys, OnShownAndSelectedKeys


class TCB_OT_key_set(Of50, bpy.types.Operator):
    """Set TCB parameters and interpolation of the selected or shown keys"""

    bl_idname = "tcb.key_set"
    bl_label = "Set TCB Parameters"
    bl_options = {"REGISTER", "UNDO"}

    track: StringProperty(
        name="Track",
        description="Data path of the animated property, or 'rotation' for the current rotation mode",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    frame: FloatProperty(
        name="Frame",
        description="Frame of the key, by default the current frame",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    tension: parameter("tension", options={"SKIP_SAVE"})
    continuity: parameter("continuity", options={"SKIP_SAVE"})
    bias: parameter("bias", options={"SKIP_SAVE"})
    ease_to: parameter("ease_to", options={"SKIP_SAVE"})
    ease_from: parameter("ease_from", options={"SKIP_SAVE"})
    velocity: FloatVectorProperty(
        name="Velocity",
        description="Velocity per frame, as three components. For rotations: in radians, about the parent's axes",
        size=3,
        options={"SKIP_SAVE"},
    )
    interpolation: EnumProperty(
        name="Interpolation",
        description="Interpolation after the keys. Bezier uses TCB, and other types work as usual",
        items=[
            (item.identifier, item.name, item.description, item.icon, item.value)
            for item in bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items
        ],
        default="BEZIER",
        options={"SKIP_SAVE"},
    )

    _same_interpolation = ""
    """Interpolation of all keys when the dialog opened, or an empty string if it differs."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_keys(cls, context) if in_animation_editor(context) else poll_selection(cls, context)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:
        if self.track:
            return self.execute(context)
        self._chosen = chosen_keys(context)
        if not self._chosen:
            return refuse(self, NO_OWN_KEY_SELECTED)
        self._recorded: list[RecordedTrack] = []
        self._show_values_of_keys(context)
        window_manager: Any = context.window_manager
        status: Status = window_manager.invoke_props_dialog(self)
        return status

    def _show_values_of_keys(self, context: bpy.types.Context) -> None:
        """Set the properties of the dialog to the values of the chosen keys.

        As in the tab, mixed values show their mean. The mean is set only if the user changes it.
        """
        self._means: dict[str, float] = {}
        scene: Any = context.scene
        for name, numbers in chosen_parameters(context).items():
            setattr(self, name, getattr(scene.tcb, name))
            if is_mixed(numbers):
                self._means[name] = getattr(self, name)
        interpolations = set().union(*map(interpolations_of, self._chosen))
        self._same_interpolation = interpolations.pop() if len(interpolations) == 1 else ""
        if self._same_interpolation:
            self.interpolation = self._same_interpolation

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        for name, slider in shown_names(context).items():
            row = layout.row()
            row.prop(self, slider)
            if self._is_kept(name):
                row.label(text="mixed, kept")
        row = layout.row()
        row.prop(self, "interpolation")
        if not self.properties.is_property_set("interpolation"):
            row.label(text="mixed, kept")

    def check(self, context: bpy.types.Context) -> bool:
        """Update the motion after each change in the dialog."""
        chosen = read_again(self._chosen)
        # If nothing was changed, there is nothing to restore, and an unkeyed pose remains.
        self._recorded = self._recorded or record_tracks((keys.datablock, keys.track) for keys in chosen)
        # Errors are reported on OK.
        for_each_of(
            chosen,
            partial(set_parameters, given=self._given(), defaults=selection.defaults_of(context.scene)),
        )
        redraw_editors()
        return True

    def cancel(self, _context: bpy.types.Context) -> None:
        """Restore the keys. Blender calls this when the user closes the dialog without OK."""
        revert_tracks(self._recorded)
        redraw_editors()

    def execute(self, context: bpy.types.Context) -> Status:
        properties = self.properties
        for name in filter(self._is_kept, PARAMETERS):
            properties.property_unset(name)
        if self._same_interpolation and self.interpolation == self._same_interpolation:
            properties.property_unset("interpolation")
        if not self._given() and not any(map(properties.is_property_set, (VELOCITY, "interpolation"))):
            names = ", ".join((*PARAMETERS, VELOCITY, "interpolation"))
            return refuse(self, rpt_("Nothing to set. Give one of {:s}", names))
        return self._set_named(context) if self.track else self._set_selected(context)

    def _set_selected(self, context: bpy.types.Context) -> Status:
        defaults = selection.defaults_of(context.scene)
        report = for_each_of(chosen_keys(context), lambda keys: self._set(keys, defaults))
        return finish(self, report, rpt_("Set {:s}", report.counts), NO_OWN_KEY_SELECTED)

    def _set_named(self, context: bpy.types.Context) -> Status:
        """Set the key at the frame in the named track of each selected object or bone."""
        defaults = selection.defaults_of(context.scene)
        has_frame = self.properties.is_property_set("frame")

        def set_at_frame(datablock: bpy.types.ID, path: str) -> None:
            frame = self.frame if has_frame else selection.action_frame(context, datablock)
            self._set(key_at(datablock, find_track(datablock, path), frame), defaults)

        report = for_each_track(selection.owners_of(context, self.track), self.track, set_at_frame, keys=1)
        return finish(self, report, rpt_("Set {:s}", report.counts))

    def _set(self, keys: TrackKeys, defaults: Mapping[str, float]) -> None:
        """Set all given values on the keys."""
        is_given = self.properties.is_property_set
        velocity = self.velocity[: velocity_size(keys.track)] if is_given(VELOCITY) else ()
        velocities = {velocity_of(component): number for component, number in enumerate(velocity)}
        interpolation = self.interpolation if is_given("interpolation") else None
        set_parameters(keys, {**self._given(), **velocities}, defaults, interpolation)

    def _given(self) -> dict[str, float]:
        """Return the parameters to set, except mixed values that are kept."""
        names = [name for name in PARAMETERS if self.properties.is_property_set(name) and not self._is_kept(name)]
        return {name: getattr(self, name) for name in names}

    def _is_kept(self, name: str) -> bool:
        """Return whether the keys keep their mixed values, that is, whether the dialog still shows the initial mean."""
        # Only the dialog has this attribute.
        means: dict[str, float] = getattr(self, "_means", {})
        return name in means and getattr(self, name) == means[name]


class TCB_OT_key_reset(OnKeys, bpy.types.Operator):
    """Reset the selected or shown keys to the default parameters"""

    bl_idname = "tcb.key_reset"
    bl_label = "Reset TCB Parameters"

    def execute(self, context: bpy.types.Context) -> Status:
        report = for_each_of(chosen_keys(context), reset)
        return finish(self, report, rpt_("Reset {:s}", report.counts), NO_OWN_KEY_SELECTED)


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
        defaults = selection.defaults_of(context.scene)
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
        defaults = selection.defaults_of(context.scene)
        notes = []

        def paste_next(keys: TrackKeys) -> None:
            note_code = paste(keys, next(next_copied_keys), defaults)
            if note_code:
                notes.append(keys.track.finding(note_code))

        report = for_each_of(chosen, paste_next)
        report.notes += notes
        return finish(self, report, rpt_("Pasted to {:s}", report.counts), NO_OWN_KEY_SELECTED)


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
        if selection.active_track(context) is None:
            cls.poll_message_set("The active object has no tracks")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        step = 1 if self.direction == "NEXT" else -1
        frames = []
        for keys in shown_keys(context):
            frame = _next_frame(keys.frames, selection.action_frame(context, keys.datablock), step)
            if frame is not None:
                frames.append(scene_frame(keys.datablock, frame))
        if not frames:
            self.report({"INFO"}, "No next key" if step > 0 else "No previous key")
            return {"CANCELLED"}
        selection.go_to(context.scene, min(frames) if step > 0 else max(frames))
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
        if any(track.enabled for _, track in selection.active_tracks(context)):
            return True
        cls.poll_message_set("The active object has no TCB track")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        report = Report()
        for datablock, track in selection.active_tracks(context):
            if not track.enabled:
                continue
            with errors_in(report):
                make_key(datablock, track, selection.action_frame(context, datablock))
                report.tracks += 1
                report.changed_keys += 1
        return finish(self, report, rpt_("Created {:s}", report.counts))
