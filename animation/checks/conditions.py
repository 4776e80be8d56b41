# SPDX-License-Identifier: GPL-3.0-or-later
"""Check conditions that a motion must meet at all times, not only at its keys.

Scales of objects and bones must never be zero. For the conditions on cameras, see `cameras.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np

from ..arguments import FrameRange, checked
from ..datablocks import of_object
from ..fcurves.keyframes import BoolArray, IndexArray
from ..many import on_all
from ..report import AnimationError, Finding, JsonResult
from ..sampling.properties import (
    STEP,
    PropertySampler,
    Values,
    curves_of,
    driven_components,
    plays_strips,
    sampled_frames,
)
from ..store.paths import bone_path
from ..text import counted, n_, rpt_
from .cameras import camera_violations, view_violations
from .violation import Violation, violations

_ZERO = 1e-6
"""Scales up to this size make an object practically invisible."""
_PARTS = 16
"""The number of parts into which the time between two samples of opposite signs is divided."""
_JUMP = 0.5
"""Fraction of the change between two samples. A scale that changes by more within one part jumps past zero."""


@dataclass
class Checks(JsonResult):
    """The result of a check: counts, and the violations found."""

    objects: int = 0
    """The number of checked objects."""
    samples: int = 0
    violations: list[Violation] = field(default_factory=list)
    """Violations, sorted by object and then by frame."""
    errors: list[Finding] = field(default_factory=list)
    """Objects that could not be checked, with the reasons."""
    notes: list[Finding] = field(default_factory=list)
    """Conditions that could not be checked, with the reasons."""

    @property
    def holds(self) -> bool:
        """Return whether everything was checked and no violations were found."""
        return not (self.violations or self.errors or self.notes)

    @property
    def summary(self) -> str:
        """Return the result in one line."""
        if not self.objects and self.holds:
            return rpt_("Nothing to check: no object")
        objects = counted(self.objects, n_("{:,} object, {:,} samples"), n_("{:,} objects, {:,} samples"), self.samples)
        if self.holds:
            return rpt_("All conditions hold: {:s}", objects)
        missed = len(self.errors) + len(self.notes)
        return rpt_("Violations: {:,}, not checked: {:,}, in {:s}", len(self.violations), missed, objects)


@checked
def check(
    datablock: bpy.types.ID,
    frame_range: FrameRange | None = None,
    scene: bpy.types.Scene | None = None,
) -> Checks:
    """Check the motion of an object as Blender plays it, at four samples per frame and at all of the object's keys.

    Parameters
    ----------
    datablock : bpy.types.ID
        The object. A camera object is checked together with its camera data. For another datablock, the objects that
        use it are checked.
    frame_range : (float, float), optional
        Frames to check. Default: the scene's frame range, extended to include all keys.
    scene : bpy.types.Scene, optional
        The scene whose frames are checked. Default: the current scene.

    Returns
    -------
    Checks
        Violations of the conditions on scales, and on the clipping, lens, focus and view of cameras.

    Raises
    ------
    ValueError
        The frame range is empty or not finite.

    Notes
    -----
    Objects with too many frames are skipped, and so are conditions on values that are not finite. The result's `errors`
    and `notes` list the skipped objects and conditions.

    Examples
    --------
    >>> found = animation.check(ball, frame_range=(1, 40))
    >>> found.holds, found.samples
    (True, 157)
    """
    return check_many([datablock], frame_range, scene)


@on_all(check)
def check_many(
    datablocks: Iterable[bpy.types.ID],
    frame_range: tuple[float, float] | None,
    scene: bpy.types.Scene | None,
) -> Checks:
    """Check the motion of several objects, or of the objects that use several datablocks. Check each object once.

    The default range of each object includes its own keys.

    Returns
    -------
    Checks
        The violations of all objects.

    Raises
    ------
    ValueError
        The frame range is empty or not finite.

    Examples
    --------
    >>> found = animation.check_many([ball, rig])
    >>> found.holds, found.objects
    (True, 2)
    """
    scene = scene or bpy.context.scene
    assert scene is not None
    checks = Checks()
    for item in dict.fromkeys(item for datablock in datablocks for item in _objects_of(datablock)):
        try:
            frames = sampled_frames(scene, of_object(item), frame_range, STEP)
        except AnimationError as refusal:
            checks.errors += map(_not_checked, refusal.findings)
            continue
        checks.objects += 1
        checks.samples += len(frames)
        sampler = PropertySampler(scene, item, frames)
        # An error in one condition does not skip the others.
        for condition in (camera_violations, view_violations, _scale_violations):
            try:
                results = list(condition(sampler))
            except AnimationError as refusal:
                checks.errors += map(_not_checked, refusal.findings)
                continue
            checks.notes += [_not_checked(result) for result in results if isinstance(result, Finding)]
            found = [result for result in results if isinstance(result, Violation)]
            checks.violations += sorted(found, key=lambda violation: violation.start)
    return checks


def _objects_of(datablock: bpy.types.ID) -> list[bpy.types.Object]:
    """Return the datablock if it is an object, or else the objects that use it."""
    if isinstance(datablock, bpy.types.Object):
        return [datablock]
    return [item for item in bpy.data.objects if item.data == datablock]


def _not_checked(reason: Finding) -> Finding:
    """Return a finding about a check that was skipped for the given reason."""
    return replace(reason, code="NOT_CHECKED", arguments=(reason.on(""),))


def _scale_violations(sampler: PropertySampler) -> Iterator[Violation]:
    """Yield violations by the animated scales of the sampler's object and its bones."""
    item: Any = sampler.item
    paths = {"scale", "delta_scale", *(f"{bone_path(bone)}.scale" for bone in (item.pose.bones if item.pose else ()))}
    if not plays_strips(item):
        paths &= {*curves_of(item), *(path for path, _ in driven_components(item))}
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

    def message(row: int) -> str:
        return rpt_("scale {:s} is zero, which makes the object invisible", _letters(np.flatnonzero(is_zero[row])))

    is_violated = np.asarray(is_zero.any(axis=1))
    yield from violations(sampler, path, "SCALE", is_violated, is_zero.sum(axis=1), message)


def _signs(values: Values) -> Values:
    """Return the signs of scales, or 0 for scales that are practically zero."""
    return np.where(np.abs(values) <= _ZERO, 0.0, np.sign(values))


def _letters(components: IndexArray) -> str:
    return ", ".join("xyz"[index] for index in components)
