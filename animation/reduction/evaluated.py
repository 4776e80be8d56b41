# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures that more than F-curves and parents move, such as constraints and drivers, as Blender evaluates them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..datablocks import name_of
from ..errors import AnimationError
from ..fcurves.channels import Channels
from ..fcurves.keyframes import Float64Array
from ..fcurves.keying import key_curve
from ..sampling.depsgraph import DepsgraphSampler
from ..translation import rpt_
from .dense import Dense, keys_of_values, points_of


def check_evaluated(obj: Any) -> None:
    """Raise AnimationError where physics move the object or a parent: what they do goes by more than one frame."""
    above = obj
    while above is not None:
        if above.rigid_body is not None:
            text = rpt_("physics move it: {:s} is a rigid body", above.name)
            raise AnimationError(name_of(obj), text)
        above = above.parent


def evaluated_places(obj: Any, frames: Float64Array) -> Float64Array:
    """Return where heads and tails of all bones are in the world, shape (points, frames, 3), in the context's scene."""
    things = [(obj.session_uid, bone.name) for bone in obj.pose.bones]
    sampler = DepsgraphSampler(things, frames)
    scene: Any = bpy.context.scene
    sampler.advance({obj.session_uid: obj}, scene, math.inf)
    return np.concatenate(
        [points_of(bone, sampler.matrices(thing)) for bone, thing in zip(obj.pose.bones, things, strict=True)]
    )


def play_densely(copy: Channels, every: Sequence[Dense], frames: Float64Array) -> None:
    """Let F-curves of a copied action play what tracks have for values, with a key a frame."""
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}
    for dense in every:
        values = keys_of_values(dense, dense.values, np.arange(len(frames)))
        for index in dense.track.channels:
            key_curve(fcurves[dense.track.path, index], frames, values[:, index], "LINEAR")
