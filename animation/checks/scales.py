# SPDX-License-Identifier: GPL-3.0-or-later
"""The condition that the scales of objects and bones are never zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np

from ..fcurves.keyframes import BoolArray
from ..sampling.properties import PropertySampler, Values, curves_of, plays_strips
from ..store.paths import bone_path
from ..translation import rpt_
from .violation import Violation, runs

_ZERO = 1e-6
"""Scales up to this size make an object practically invisible."""
_REFINED = 1e-3
"""Tolerance, in frames, for the time of a zero crossing."""
_JUMP = 0.5
"""Fraction of the change between samples. A curve that changes by a larger fraction within `_REFINED` frames jumps past
zero."""


def scale_violations(sampler: PropertySampler) -> Iterator[Violation]:
    """Yield violations by the scales of the sampler's object and its bones."""
    for path, values in sampler.values(sampler.item, sorted(_animated_scales(sampler.item))).items():
        yield from _zero_scales(sampler, path, values)


def _animated_scales(item: Any) -> set[str]:
    """Return the paths of the scales that F-curves, drivers or NLA strips may change."""
    paths = {path for path, _ in curves_of(item)}
    if item.animation_data is not None:
        paths |= {driver.data_path for driver in item.animation_data.drivers}
    paths = {path for path in paths if path.endswith("scale") and _is_scale(item, path)}
    if plays_strips(item):
        bones = item.pose.bones if item.pose else ()
        paths |= {"scale", *(f"{bone_path(bone)}.scale" for bone in bones)}
    return paths


def _is_scale(item: bpy.types.Object, path: str) -> bool:
    """Return whether a path that ends in "scale" is a scale of the object or of an existing bone."""
    if path in ("scale", "delta_scale"):
        return True
    try:
        bone = item.path_resolve(path.removesuffix(".scale"))
    except ValueError:
        return False
    return isinstance(bone, bpy.types.PoseBone)


def _zero_scales(sampler: PropertySampler, path: str, values: Values) -> Iterator[Violation]:
    """Yield a violation for each frame of a sign change, and for each run of samples where a scale is zero."""
    is_zero = np.abs(values) <= _ZERO
    components_by_frame: dict[float, list[int]] = {}
    for component in range(values.shape[1]):
        is_crossing = _is_crossing(values[:, component], is_zero[:, component])
        is_zero[is_crossing, component] = False
        frames_between = _sign_changes_between_samples(sampler, path, component, values[:, component])
        for frame in (*sampler.frames[is_crossing].tolist(), *frames_between):
            # Components that change sign together are reported once.
            near_frame = (other for other in components_by_frame if abs(other - frame) < 2 * _REFINED)
            components_by_frame.setdefault(next(near_frame, frame), []).append(component)
    for frame, components in sorted(components_by_frame.items()):
        message = rpt_("scale {:s} passes through zero, which turns the object inside out", _letters(components))
        yield Violation(sampler.item.name, path, "SCALE", frame, frame, frame, message)
    for first, last in runs(np.asarray(is_zero.any(axis=1))):
        letters = _letters(np.flatnonzero(is_zero[first : last + 1].any(axis=0)))
        start, end = sampler.frames[[first, last]].tolist()
        message = rpt_("scale {:s} is zero, which makes the object invisible", letters)
        yield Violation(sampler.item.name, path, "SCALE", start, end, start, message)


def _is_crossing(values: Values, is_zero: BoolArray) -> BoolArray:
    """Return a mask of the zero samples between samples of opposite signs."""
    is_crossing = np.zeros(len(values), dtype=np.bool_)
    is_crossing[1:-1] = is_zero[1:-1] & (values[:-2] * values[2:] < 0.0)
    return is_crossing


def _sign_changes_between_samples(
    sampler: PropertySampler, path: str, component: int, values: Values
) -> Iterator[float]:
    """Yield the frames between two samples at which values change sign."""
    fcurve = None if plays_strips(sampler.item) else curves_of(sampler.item).get((path, component))
    signs = np.where(np.abs(values) <= _ZERO, 0.0, np.sign(values))
    for row in np.flatnonzero(signs[:-1] * signs[1:] < 0.0).tolist():
        start, end = sampler.frames[row : row + 2].tolist()
        before, after = values[row : row + 2].tolist()
        if fcurve is None:
            yield start + (end - start) * before / (before - after)
        else:
            frame = _sign_change_of_curve(fcurve, start, end, before, after)
            if frame is not None:
                yield frame


def _sign_change_of_curve(
    fcurve: bpy.types.FCurve, start: float, end: float, before: float, after: float
) -> float | None:
    """Return the frame at which a curve changes sign, or None if it jumps past zero.

    `before` and `after` are the curve's values at `start` and `end`, which have opposite signs.
    """
    change = abs(after - before)
    while end - start > _REFINED:
        middle = (start + end) / 2
        value = fcurve.evaluate(middle)
        if value * before > 0.0:
            start, before = middle, value
        else:
            end, after = middle, value
    return None if abs(after - before) > _JUMP * change else (start + end) / 2


def _letters(components: Iterable[int]) -> str:
    return ", ".join("xyz"[index] for index in components)
