# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy parameters from keys to keys."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np

from .. import selection, words
from ..animation.companions import PARAMETERS
from ..animation.faults import Refusal
from ..animation.selected_keys import Numbers, TrackKeys, set_parameters
from .key_set import NO_KEYS
from .reporting import Status, finish, for_each_of, poll_keys


@dataclass
class _Clipboard:
    """What was copied last: to the path of each track the numbers of its keys, shape (n, 5), in order of frame."""

    tracks: list[tuple[str, Numbers]] = field(default_factory=list)

    @property
    def all(self) -> Numbers:
        return np.concatenate([np.empty((0, len(PARAMETERS))), *(numbers for _, numbers in self.tracks)])

    def for_keys(self, chosen: list[TrackKeys]) -> list[Numbers] | None:
        """The numbers for these keys, shape (n, 5) for each track, or None where it is not plain which are meant.

        As many keys as were copied get theirs in order. Else each key of a track gets what was copied from the one key
        of a track of that name; and if all that was copied is the same, every key gets it.
        """
        counts = [len(keys) for keys in chosen]
        copied = self.all
        if sum(counts) == len(copied):
            return np.split(copied, np.cumsum(counts)[:-1])
        if (copied == copied[0]).all():
            return [np.tile(copied[0], (n, 1)) for n in counts]
        single = {path: numbers for path, numbers in self.tracks if len(numbers) == 1}
        if all(keys.track.path in single for keys in chosen):
            return [np.tile(single[keys.track.path], (len(keys), 1)) for keys in chosen]
        return None


_clipboard = _Clipboard()


class TCB_OT_key_copy(bpy.types.Operator):
    """Copy tension, continuity, bias and ease of the selected keys, or in the 3D viewport of the key in the sidebar"""

    bl_idname = "tcb.key_copy"
    bl_label = "Copy TCB Parameters"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        defaults = selection.default_parameters(context)
        try:
            copied = [
                (keys.track.path, np.stack([keys.parameters(defaults)[name] for name in PARAMETERS], axis=1))
                for keys in selection.chosen_keys(context)
            ]
        except Refusal as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        if not copied:
            self.report({"ERROR"}, NO_KEYS)
            return {"CANCELLED"}
        _clipboard.tracks = copied
        self.report({"INFO"}, words.report("Keys whose parameters were copied: {:d}", len(_clipboard.all)))
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
            text = words.report("{:d} different keys were copied, and {:d} are selected", len(_clipboard.all), count)
            self.report({"ERROR"}, text)
            return {"CANCELLED"}
        numbers = iter(pasted)
        defaults = selection.default_parameters(context)

        def paste(keys: TrackKeys) -> None:
            set_parameters(keys, dict(zip(PARAMETERS, next(numbers).T, strict=True)), defaults)

        return finish(self, for_each_of(chosen, paste), "Pasted to", NO_KEYS)
