# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures that more than F-curves and parents move, such as constraints and drivers, as Blender evaluates them."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import Any

import bpy
import numpy as np

from ..datablocks import bone_path, name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels
from ..fcurves.keyframes import BoolArray, Float64Array
from ..fcurves.keying import key_curve
from ..sampling.depsgraph import DepsgraphSampler
from .dense import Dense, keys_of_values, points_of
from .new_keys import NewKeys

_LEAST = 1e-4
"""The smallest part of what is allowed."""
_AROUND = (2, 4, 8, 16, 32, 64, 128, 256, 512, 512)
"""Where constraints make more of small changes bounds are tightened so often, by so many frames around."""
_TIGHTER = 0.8
"""By how much more than poses were too far off: a search with other bounds finds other keys everywhere."""


def check_evaluated(obj: Any) -> None:
    """Raise AnimationError where physics move the object or a parent: what they do goes by more than one frame."""
    above = obj
    while above is not None:
        if above.rigid_body is not None:
            raise AnimationError(Finding("REDUCE_PHYSICS", name_of(obj), arguments=(above.name,)))
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


def near_enough(
    obj: Any,
    found: list[NewKeys],
    search: Callable[[Float64Array], Generator[float, None, list[NewKeys]]],
    excess_of: Callable[[Sequence[NewKeys]], Float64Array],
) -> Generator[float, None, list[NewKeys]]:
    """Search with smaller errors while bones are too far off as Blender evaluates them; return the nearest keys.

    `found`: the keys to begin with; `search`: finds keys within parts of what is allowed to bones (bones, frames);
    `excess_of`: how many times what is allowed bones are off with keys, of the same shape.
    """
    excess = excess_of(found)
    least, parts = excess.max(), np.ones_like(excess)
    for around in _AROUND:
        if least <= 1.0:
            break
        needed = np.where(excess > 1.0, _TIGHTER / np.maximum(excess, 1.0), 1.0)
        parts = _tightened(obj, parts, needed, around)
        tried = yield from search(parts)
        excess = excess_of(tried)
        if excess.max() < least:
            found, least = tried, excess.max()
    return found


def _tightened(obj: Any, parts: Float64Array, needed: Float64Array, around: int) -> Float64Array:
    """Return parts of what is allowed to bones (bones, frames), tightened by what is `needed` of them.

    Where a bone needs less, so do all that have a part in where it is, also so many frames before and after.
    """
    padded = np.pad(needed, ((0, 0), (around, around)), constant_values=1.0)
    least = np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1, axis=1).min(axis=2)
    moves = _movers(obj)
    factors = np.ones_like(parts)
    for bone in np.flatnonzero(least.min(axis=1) < 1.0).tolist():
        factors[moves[bone]] = np.minimum(factors[moves[bone]], least[bone])
    return np.maximum(parts * factors, _LEAST)


def _movers(obj: Any) -> BoolArray:
    """Return which bones have a part in where a bone is, shape (bones, bones): parents, targets, kinematic chains."""
    bones = obj.pose.bones
    found = np.eye(len(bones), dtype=np.bool_)
    for number, bone in enumerate(bones):
        if bone.parent is not None:
            found[number, bones.find(bone.parent.name)] = True
        for constraint in bone.constraints:
            if not constraint.mute:
                chain = [bones.find(each.name) for each in _chain(bone, constraint)]
                found[np.ix_(chain, [*chain, *_targets(obj, constraint)])] = True
    drivers = [driver for owner in (obj, obj.data) if owner.animation_data for driver in owner.animation_data.drivers]
    for driver in drivers:
        owners = [n for n, bone in enumerate(bones) if driver.data_path.startswith(f"{bone_path(bone)}.")]
        found[owners or slice(None)] = True
    while True:
        more: BoolArray = found @ found
        if (more == found).all():
            return found
        found = more


def _chain(bone: Any, constraint: Any) -> list[Any]:
    """Return the bones that a constraint of a bone moves: itself, of inverse kinematics its parents, too."""
    if constraint.type not in ("IK", "SPLINE_IK"):
        return [bone]
    whole = [bone, *bone.parent_recursive]
    return whole[: constraint.chain_count or len(whole)]


def _targets(obj: Any, constraint: Any) -> list[int]:
    """Return the numbers of the bones that a constraint goes by: all where that can't be told."""
    pairs = [(each.target, each.subtarget) for each in getattr(constraint, "targets", ())]
    pairs += [
        (getattr(constraint, f"{name}target", None), getattr(constraint, f"{name}subtarget", ""))
        for name in ("", "pole_")
    ]
    bones = obj.pose.bones
    found: list[int] = []
    for target, name in pairs:
        if target == obj and name in bones:
            found.append(bones.find(name))
        elif target == obj or (target is not None and (target.parent is not None or len(target.constraints))):
            return list(range(len(bones)))
    return found
