# SPDX-License-Identifier: GPL-3.0-or-later
"""The condition that the scales of objects and bones are never zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..fcurves.keyframes import BoolArray, IndexArray
from ..sampling.properties import PropertySampler, Values, curves_of, driven_components, plays_strips
from ..store.paths import bone_path
from ..translation import rpt_
from .violation import Violation, violations

_ZERO = 1e-6
"""Scales up to this size make an object practically invisible."""
_PARTS = 16
"""The number of parts into which the time between two samples of opposite signs is divided."""
_JUMP = 0.5
"""Fraction of the change between two samples. A scale that changes by more within one part jumps past zero."""


def scale_violations(sampler: PropertySampler) -> Iterator[Violation]:
    """Yield violations by the animated scales of the sampler's object and its bones."""
    item: Any = sampler.item
    paths = {"scale", "delta_scale", *(f"{bone_path(bone)}.scale" for bone in (item.pose.bones if item.pose else ()))}
    if not plays_strips(item):
        paths &= {path for path, _ in (*curves_of(item), *driven_components(item))}
    for path, values in sampler.values(item, sorted(paths)).items():
        signs = _signs(values)
        # At a single zero between opposite signs, the scale passes through zero.
        signs[1:-1] = np.where((signs[1:-1] == 0.0) & (signs[:-2] * signs[2:] < 0.0), signs[2:], signs[1:-1])
        for row in np.flatnonzero((signs[:-1] * signs[1:] < 0.0).any(axis=1)).tolist():
            yield from _sign_changes(sampler, path, row, np.flatnonzero(signs[row] * signs[row + 1] < 0.0))
        yield from _zero_scales(sampler, path, signs == 0.0)


def _sign_changes(sampler: PropertySampler, path: str, row: int, components: IndexArray) -> Iterator[Violation]:
    """Yield a violation if components pass through zero between two samples. Components may jump past zero."""
    start, end = sampler.frames[row : row + 2].tolist()
    frames = np.linspace(start, end, _PARTS + 1)
    values = PropertySampler(sampler.scene, sampler.item, frames).values(sampler.item, [path])[path][:, components]
    largest_change = np.abs(np.diff(values, axis=0)).max(axis=0)
    passes = (_signs(values[-1]) * values[0] <= 0.0) & (largest_change <= _JUMP * np.abs(values[-1] - values[0]))
    if passes.any():
        first = values[:, np.argmax(passes)]
        part = int(np.argmax(_signs(first[1:]) * first[0] <= 0.0))
        before, after = first[part : part + 2]
        frame = float(frames[part] + (end - start) / _PARTS * before / (before - after))
        letters = _letters(components[passes])
        message = rpt_("scale {:s} passes through zero, which turns the object inside out", letters)
        yield Violation(sampler.item.name, path, "SCALE", frame, frame, frame, message)


def _zero_scales(sampler: PropertySampler, path: str, is_zero: BoolArray) -> Iterator[Violation]:
    """Yield a violation for each run of samples at which any component is zero."""
    yield from violations(
        sampler,
        path,
        "SCALE",
        np.asarray(is_zero.any(axis=1)),
        is_zero.sum(axis=1),
        lambda row: rpt_(
            "scale {:s} is zero, which makes the object invisible", _letters(np.flatnonzero(is_zero[row]))
        ),
    )


def _signs(values: Values) -> Values:
    """Return the signs of scales, or 0 for scales that are practically zero."""
    return np.where(np.abs(values) <= _ZERO, 0.0, np.sign(values))


def _letters(components: IndexArray) -> str:
    return ", ".join("xyz"[index] for index in components)
