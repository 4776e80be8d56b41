# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy parameters, and velocities where the method goes by them, from keys to keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import bpy
import numpy as np

from ..animation.edit.selected_keys import TrackKeys, goes_by_velocities, set_parameters
from ..animation.errors import AnimationError
from ..animation.store.parameters import Numbers
from ..animation.store.table.rows import PARAMETERS, velocity_of
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.reporting import Status, finish, for_each_of, poll_keys
from .key_set import NO_KEYS


@dataclass(frozen=True)
class _Key:
    """The copied parameters and velocity of one key."""

    parameters: tuple[float, ...]
    velocity: tuple[float, ...] = ()
    """One number a component; none where the method of the key's track uses no velocities."""
    is_angular: bool = False

    @classmethod
    def of_track(cls, keys: TrackKeys, defaults: dict[str, float]) -> list[_Key]:
        """Return the keys of a track, in order of frame. Raises AnimationError."""
        own = keys.parameters(defaults)
        parameters = list(zip(*(own[name].tolist() for name in PARAMETERS), strict=True))
        if not goes_by_velocities(keys.track):
            return [cls(numbers) for numbers in parameters]
        velocities = map(tuple, keys.velocities().tolist())
        return [cls(*numbers, keys.track.is_rotation) for numbers in zip(parameters, velocities, strict=True)]


@dataclass
class _Clipboard:
    """The keys that were copied last, in order of frame, by the paths of their tracks."""

    tracks: list[tuple[str, list[_Key]]] = field(default_factory=list)

    @property
    def all(self) -> list[_Key]:
        return [key for _, keys in self.tracks for key in keys]

    def for_keys(self, chosen: list[TrackKeys]) -> list[list[_Key]] | None:
        """Return what these keys get, track by track, or None where that is not clear.

        As many keys as were copied get theirs in order. Else each key of a track gets what was copied from the one key
        of a track of that name; and if all that was copied is the same, every key gets it.
        """
        counts = [len(keys) for keys in chosen]
        copied = self.all
        if sum(counts) == len(copied):
            rest = iter(copied)
            return [list(islice(rest, n)) for n in counts]
        if len(set(copied)) == 1:
            return [copied[:1] * n for n in counts]
        single = {path: keys for path, keys in self.tracks if len(keys) == 1}
        if all(keys.track.path in single for keys in chosen):
            return [single[keys.track.path] * len(keys) for keys in chosen]
        return None


def _velocities(keys: TrackKeys, copied: list[_Key]) -> tuple[dict[str, Numbers], str]:
    """Return the copied velocities that the keys get, and why these are not all."""
    moving = [key for key in copied if any(key.velocity)]
    if not goes_by_velocities(keys.track):
        return {}, rpt_("its method goes by no velocities: pasted without") if moving else ""
    after = keys.velocities()
    size = after.shape[1]
    fitting = [row for row, key in enumerate(copied) if key.velocity and key.is_angular == keys.track.is_rotation]
    for row in fitting:
        given = copied[row].velocity[:size]
        after[row, : len(given)] = given
    left = ""
    if any(key.is_angular != keys.track.is_rotation for key in moving):
        left = rpt_("velocities of values and of rotations are not the same: pasted without")
    elif any(any(key.velocity[size:]) for key in moving):
        left = rpt_("it has fewer components than the copied velocity: the first ones were pasted")
    return {velocity_of(component): after[:, component] for component in range(size)} if fitting else {}, left


_clipboard = _Clipboard()


class TCB_OT_key_copy(bpy.types.Operator):
    """Copy tension, continuity, bias, ease and velocity of the selected keys, or in the 3D viewport of the key in the
    sidebar"""

    bl_idname = "tcb.key_copy"
    bl_label = "Copy TCB Parameters"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        defaults = selection.default_parameters(context)
        try:
            copied = [(keys.track.path, _Key.of_track(keys, defaults)) for keys in selection.chosen_keys(context)]
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        if not copied:
            self.report({"ERROR"}, NO_KEYS)
            return {"CANCELLED"}
        _clipboard.tracks = copied
        self.report({"INFO"}, rpt_("Keys whose parameters were copied: {:d}", len(_clipboard.all)))
        return {"FINISHED"}


class TCB_OT_key_paste(bpy.types.Operator):
    """Give the selected keys the copied parameters: one key's to all of them, or in order where as many are selected as
    were copied"""

    bl_idname = "tcb.key_paste"
    bl_label = "Paste TCB Parameters"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _clipboard.tracks:
            cls.poll_message_set("Copy the parameters of keys first")
            return False
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        chosen = selection.chosen_keys(context)
        pasted = _clipboard.for_keys(chosen) if chosen else []
        if pasted is None:
            count = sum(len(keys) for keys in chosen)
            text = rpt_("{:d} different keys were copied, and {:d} are selected", len(_clipboard.all), count)
            self.report({"ERROR"}, text)
            return {"CANCELLED"}
        copied = iter(pasted)
        defaults = selection.default_parameters(context)
        notes = []

        def paste(keys: TrackKeys) -> None:
            own = next(copied)
            parameters = dict(zip(PARAMETERS, np.array([key.parameters for key in own]).T, strict=True))
            velocities, left = _velocities(keys, own)
            set_parameters(keys, {**parameters, **velocities}, defaults)
            if left:
                notes.append(keys.track.note(left))

        report = for_each_of(chosen, paste)
        report.notes += notes
        return finish(self, report, rpt_("Pasted to {:s}", report.counts), NO_KEYS)
