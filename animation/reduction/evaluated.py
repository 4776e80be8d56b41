# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce armatures moved by constraints, drivers and other effects, using Blender's evaluation."""

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
"""The smallest fraction of the tolerance."""
_AROUND = (2, 4, 8, 16, 32, 64, 128, 256, 512, 512)
"""Tolerances are tightened once per entry, within this number of frames, if constraints amplify small changes."""
_TIGHTER = 0.8
"""Additional factor of tightening, because a search with other tolerances changes all keys."""


def check_evaluated(obj: Any) -> None:
    """Raise AnimationError if physics moves the object or a parent, because physics depends on previous frames."""
    above = obj
    while above is not None:
        if above.rigid_body is not None:
            raise AnimationError(Finding("REDUCE_PHYSICS", name_of(obj), arguments=(above.name,)))
        above = above.parent


def evaluated_places(obj: Any, frames: Float64Array) -> Float64Array:
    """Return the world positions of all bone heads and tails in the context's scene, shape (points, frames, 3)."""
    things = [(obj.session_uid, bone.name) for bone in obj.pose.bones]
    sampler = DepsgraphSampler(things, frames)
    scene: Any = bpy.context.scene
    sampler.advance({obj.session_uid: obj}, scene, math.inf)
    return np.concatenate(
        [points_of(bone, sampler.matrices(thing)) for bone, thing in zip(obj.pose.bones, things, strict=True)]
    )


def play_densely(copy: Channels, every: Sequence[Dense], frames: Float64Array) -> None:
    """Key the values of the tracks on the F-curves of a copied action, with one key per frame."""
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
    """Search with smaller tolerances while evaluated bones exceed them, and return the most accurate keys.

    `found` contains the initial keys. `search` finds keys within fractions of the bones' tolerances (bones, frames).
    `excess_of` returns the errors of the bones relative to the tolerances, with the same shape.
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
    """Tighten the tolerance fractions of bones (bones, frames) by the `needed` factors.

    The tolerances of all bones that move a bone are tightened too, within `around` frames.
    """
    padded = np.pad(needed, ((0, 0), (around, around)), constant_values=1.0)
    least = np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1, axis=1).min(axis=2)
    moves = _movers(obj)
    factors = np.ones_like(parts)
    for bone in np.flatnonzero(least.min(axis=1) < 1.0).tolist():
        factors[moves[bone]] = np.minimum(factors[moves[bone]], least[bone])
    return np.maximum(parts * factors, _LEAST)


def _movers(obj: Any) -> BoolArray:
    """Return a mask (bones, bones) of the parents, targets and kinematic chains that move each bone."""
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
    """Return the bones that a constraint moves: its own bone and, for inverse kinematics, the parents."""
    if constraint.type not in ("IK", "SPLINE_IK"):
        return [bone]
    whole = [bone, *bone.parent_recursive]
    return whole[: constraint.chain_count or len(whole)]


def _targets(obj: Any, constraint: Any) -> list[int]:
    """Return the indices of the bones that a constraint depends on, or all bones if this is unknown."""
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
