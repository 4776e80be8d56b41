# SPDX-License-Identifier: GPL-3.0-or-later
"""Random edits, each done to what is live and to a twin that is not baked.

The result of some edits depends on what the curve is between its keys, so the twin's is another: after these it is made
anew from the live object's keys.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy

from tests.animation.curves import HAS_SLOTS
from tools.edit_kinds import ALL, KEYS, NONE, Alike, Done, Edits, make_keyed, mark_selected, rows

__all__ = ["ALL", "KEYS", "NONE", "Alike", "Walk", "mark_selected", "rows"]

MOST = 12
"""Keys of a channel: above it some are deleted."""
FARTHEST = 300.0
"""Frames: a walk that went farther off comes back."""


@dataclass
class Walk(Edits):
    """What is live, its twin, and the dice.

    `mode`: a rotation mode of objects, or BONES: of an armature with two bones that mirror each other.
    """

    animation: Any
    mode: str
    seed: int
    options: dict[str, Any]
    dice: random.Random = field(init=False)
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start_again(self.seed)

    def start_again(self, seed: int) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        self.dice = random.Random(seed)
        for name in ("Live", "Plain", "Other Live", "Other Plain"):
            make_keyed(self.animation, name, self.mode, random.Random(3 + name.startswith("Other")))
        for name in ("Live", "Other Live"):
            self.animation.bake(bpy.data.objects[name], **self.options)
            bpy.data.objects[name].animation_data.action.tcb_live = True
        self._show("Live", "Plain")
        if self.mode == "BONES":
            bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.tcb.sync()

    def follow(self, whole: bpy.types.Object) -> None:
        """Give the twin the keys of another object that is not baked."""
        data = self.plain.animation_data
        old, data.action = data.action, whole.animation_data.action.copy()
        if HAS_SLOTS:
            data.action_slot = data.action.slots[0]
        bpy.data.actions.remove(old)

    def step(self) -> Alike:
        """Do one edit to both; what of them must be alike after it."""
        n = max((len(fcurve.keyframe_points) for fcurve in rows(self.plain)), default=0)
        frames = self.frames()
        if n > MOST:
            edit: Callable[[], Done] = self.thin_out
        elif n < 3:
            edit = self.key_pose
        elif max(map(abs, frames)) > FARTHEST or frames[-1] - frames[0] < 8:
            edit = self.come_back
        else:
            edits, weights = zip(*EDITS, strict=True)
            edit = getattr(self, self.dice.choices(edits, weights)[0])
        passes_by = any(map(self.passes_by_keys, self._paths()))
        said, same = edit()
        self.story.append(said)
        return OF_VALUES.get(edit.__name__, same) if passes_by else same


EDITS = (
    ("move", 20),
    ("scale", 6),
    ("mirror", 3),
    ("snap", 3),
    ("duplicate", 5),
    ("delete", 8),
    ("paste", 5),
    ("paste_flipped", 3),
    ("paste_from_another", 4),
    ("set_kind", 8),
    ("extrapolate", 1),
    ("key_pose", 10),
    ("set_value", 6),
    ("move_values", 6),
    ("scale_values", 3),
    ("graph_operator", 6),
    ("action_operator", 5),
    ("slide", 8),
    ("choose", 6),
    ("give_velocity", 3),
)
OF_VALUES = {"key_pose": NONE, "scale_values": NONE, "set_value": KEYS}
"""What must be alike where a key is shown beside its own value: that is moved by as much, whatever moves the key."""
