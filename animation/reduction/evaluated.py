# SPDX-License-Identifier: GPL-3.0-or-later
"""Find keys for bones moved by constraints, drivers and other effects.

Blender evaluates the keys that a search has found. If bones exceed their tolerances, the search is repeated with
smaller tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import Any

import bpy
import numpy as np

from ..datablocks import name_of
from ..fcurves.channels import Channels
from ..fcurves.keyframes import BoolArray, Float64Array
from ..fcurves.read_and_write import key_curve
from ..report import AnimationError, Finding
from ..sampling.depsgraph import DepsgraphSampler
from ..store.paths import bone_path
from .armature_joints import head_and_tail
from .sampled_track import SampledTrack, keys_of_values
from .write_new_keys import NewKeys

_SMALLEST_FRACTION = 1e-4
"""The smallest fraction of the tolerance."""
_DISTANCES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 512)
"""The number of frames around an error within which each round tightens tolerances."""
_TIGHTER = 0.8
"""Additional factor for tightening, because a search with other tolerances changes all keys."""


def check_evaluated(obj: Any) -> None:
    """Raise AnimationError if an active rigid body moves the object or a parent.

    The simulation depends on previous frames. Passive rigid bodies follow only their animation.
    """
    ancestor = obj
    while ancestor is not None:
        if ancestor.rigid_body is not None and ancestor.rigid_body.type == "ACTIVE":
            raise AnimationError(Finding("REDUCE_PHYSICS", name_of(obj), arguments=(ancestor.name,)))
        ancestor = ancestor.parent


def evaluated_positions(obj: Any, frames: Float64Array) -> Float64Array:
    """Return the world positions of all bone heads and tails in the context's scene, shape (points, frames, 3)."""
    bones = {(obj.session_uid, bone.name): bone for bone in obj.pose.bones}
    sampler = DepsgraphSampler([*bones], frames)
    scene: Any = bpy.context.scene
    sampler.advance({obj.session_uid: obj}, scene, math.inf)
    return np.concatenate([head_and_tail(bone, sampler.matrices(thing)) for thing, bone in bones.items()])


def play_densely(copy: Channels, tracks: Sequence[SampledTrack], frames: Float64Array) -> None:
    """Key the values of the tracks on the F-curves of a copied action, with one key per frame."""
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}
    for sampled in tracks:
        values = keys_of_values(sampled, sampled.values, np.arange(len(frames)))
        for index in sampled.track.channels:
            key_curve(fcurves[sampled.track.path, index], frames, values[:, index], "LINEAR")


def tightened_search(
    obj: Any,
    keys: list[NewKeys],
    search: Callable[[Float64Array], Generator[float, None, list[NewKeys]]],
    excess_of: Callable[[Sequence[NewKeys]], Float64Array],
) -> Generator[float, None, list[NewKeys]]:
    """Repeat the search with smaller tolerances while evaluated bones exceed the original tolerances.

    Yields the progress of each search, and returns the most accurate keys. `keys` contains the initial keys. `search`
    finds keys within fractions of the bones' tolerances, shape (bones, frames). `excess_of` returns the errors of the
    bones relative to the tolerances, with the same shape.
    """
    excess = excess_of(keys)
    smallest_excess = excess.max()
    if smallest_excess <= 1.0:
        return keys
    movers, fractions = _bones_that_move_each(obj), np.ones_like(excess)
    for distance in _DISTANCES:
        needed = np.where(excess > 1.0, _TIGHTER / np.maximum(excess, 1.0), 1.0)
        fractions = _tightened(fractions, needed, distance, movers)
        tighter_keys = yield from search(fractions)
        excess = excess_of(tighter_keys)
        if excess.max() < smallest_excess:
            keys, smallest_excess = tighter_keys, excess.max()
            if smallest_excess <= 1.0:
                break
    return keys


def _tightened(fractions: Float64Array, needed: Float64Array, distance: int, movers: BoolArray) -> Float64Array:
    """Tighten the bones' tolerance fractions, shape (bones, frames), by the `needed` factors.

    The tolerances of all bones that move a bone are tightened too, within `distance` frames.
    """
    padded = np.pad(needed, ((0, 0), (distance, distance)), constant_values=1.0)
    spread = np.lib.stride_tricks.sliding_window_view(padded, 2 * distance + 1, axis=1).min(axis=2)
    factors = np.ones_like(fractions)
    for bone in np.flatnonzero(spread.min(axis=1) < 1.0).tolist():
        factors[movers[bone]] = np.minimum(factors[movers[bone]], spread[bone])
    return np.maximum(fractions * factors, _SMALLEST_FRACTION)


def _bones_that_move_each(obj: Any) -> BoolArray:
    """Return a mask, shape (bones, bones), of the parents, targets and kinematic chains that move each bone."""
    bones = obj.pose.bones
    moves = np.eye(len(bones), dtype=np.bool_)
    for number, bone in enumerate(bones):
        if bone.parent is not None:
            moves[number, bones.find(bone.parent.name)] = True
        for constraint in bone.constraints:
            if not constraint.mute:
                chain = [bones.find(moved.name) for moved in _chain(bone, constraint)]
                moves[np.ix_(chain, [*chain, *_targets(obj, constraint)])] = True
    drivers = [driver for owner in (obj, obj.data) if owner.animation_data for driver in owner.animation_data.drivers]
    for driver in drivers:
        driven = [number for number, bone in enumerate(bones) if driver.data_path.startswith(f"{bone_path(bone)}.")]
        # The inputs of a driver are unknown. Drivers outside bones may affect all bones.
        moves[driven or slice(None)] = True
    while True:
        indirect: BoolArray = moves @ moves
        if (indirect == moves).all():
            return moves
        moves = indirect


def _chain(bone: Any, constraint: Any) -> list[Any]:
    """Return the bones that a constraint moves: the constrained bone and, for inverse kinematics, its parents."""
    if constraint.type not in ("IK", "SPLINE_IK"):
        return [bone]
    bone_and_ancestors = [bone, *bone.parent_recursive]
    return bone_and_ancestors[: constraint.chain_count or None]


def _targets(obj: Any, constraint: Any) -> list[int]:
    """Return the indices of the bones on which a constraint depends.

    If the dependencies are unknown, return all bones.
    """
    targets = [(entry.target, entry.subtarget) for entry in getattr(constraint, "targets", ())]
    # Only some types of constraints have these properties.
    for prefix in ("", "pole_"):
        target = getattr(constraint, f"{prefix}target", None)
        targets.append((target, getattr(constraint, f"{prefix}subtarget", "")))
    bones = obj.pose.bones
    indices: list[int] = []
    for target, name in targets:
        may_depend_on_bones = target is not None and (target.parent is not None or len(target.constraints))
        if target == obj and name in bones:
            indices.append(bones.find(name))
        elif target == obj or may_depend_on_bones:
            return list(range(len(bones)))
    return indices
