# SPDX-License-Identifier: GPL-3.0-or-later
"""Check conditions that a motion must meet at all times, not only at its keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import bpy

from ..arguments import FrameRange, checked
from ..datablocks import of_object
from ..errors import AnimationError, Finding, as_dict
from ..many import on_all
from ..sampling.properties import STEP, PropertySampler, sampled_frames
from ..translation import counted, n_, rpt_
from .cameras import camera_violations, view_violations
from .scales import scale_violations
from .violation import Violation


@dataclass
class Checks:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-compatible dictionary, with the messages of findings."""
        return as_dict(self)

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
        for condition in (camera_violations, view_violations, scale_violations):
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
