# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions on the properties of cameras.

A camera needs lens, sensor and clip values that Blender can play, a clip start less than its clip end, and a focus
distance beyond the clip start. Source: docs/formulas, "Conditions of cameras".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from ..fcurves.keyframes import BoolArray
from ..number_text import number_text
from ..sampling.properties import PropertySampler, Values
from ..translation import n_, rpt_
from .violation import Violation, runs

_SIZES = {
    "PERSP": ("lens", "sensor_width", "sensor_height"),
    "ORTHO": ("ortho_scale",),
    "PANO": ("sensor_width",),
}
"""For each camera type, the properties that size the view."""
_CLIPS = ("clip_start", "clip_end")
_FOCUS = ("dof.use_dof", "dof.focus_distance")
_NAMES = {
    "lens": n_("lens"),
    "sensor_width": n_("sensor width"),
    "sensor_height": n_("sensor height"),
    "ortho_scale": n_("ortho scale"),
    "clip_start": n_("clip start"),
    "clip_end": n_("clip end"),
}


def camera_violations(sampler: PropertySampler) -> Iterator[Violation]:
    """Yield violations by the camera data of the sampler's object, if it is a camera."""
    if not isinstance(sampler.item.data, bpy.types.Camera):
        return
    camera: Any = sampler.item.data
    limited = (*_SIZES.get(camera.type, ()), *_CLIPS)
    sampled = sampler.values(camera, (*limited, *_FOCUS))
    values = {path: numbers[:, 0] for path, numbers in sampled.items()}
    minimum = {path: camera.bl_rna.properties[path].hard_min for path in limited}
    for path in limited:
        yield from _too_small(sampler, path, values[path], minimum[path])
    start, end = (np.maximum(values[path], minimum[path]) for path in _CLIPS)
    for frames, row in _runs(sampler, start >= end, excess=start - end):
        texts = number_text(start[row]), number_text(end[row])
        message = rpt_("clip start {:s} is not below clip end {:s}", *texts)
        yield Violation(sampler.item.name, "clip_end", "CLIP", *frames, message)
    if camera.dof.focus_object is None:
        use_dof, distance = (values[path] for path in _FOCUS)
        for frames, row in _runs(sampler, (use_dof >= 0.5) & (distance <= start), excess=start - distance):
            texts = number_text(distance[row]), number_text(start[row])
            message = rpt_("focus distance {:s} is not beyond clip start {:s}", *texts)
            yield Violation(sampler.item.name, "dof.focus_distance", "FOCUS", *frames, message)


def _too_small(sampler: PropertySampler, path: str, values: Values, minimum: float) -> Iterator[Violation]:
    """Yield violations by values below Blender's minimum, or by 0 if that is the minimum.

    Blender plays the minimum in place of a lower value, so the motion stops there. A view of size 0 shows nothing.
    """
    name = rpt_(_NAMES[path])
    for frames, row in _runs(sampler, values < minimum if minimum > 0.0 else values <= 0.0, excess=minimum - values):
        if minimum > 0.0:
            message = rpt_(
                "{name:s} {value:s} is below Blender's minimum of {limit:s}",
                name=name,
                value=number_text(values[row], 7),
                limit=number_text(minimum, 7),
            )
        else:
            message = rpt_("{:s} {:s} is not above 0", name, number_text(values[row]))
        yield Violation(sampler.item.name, path, "CLIP" if path in _CLIPS else "LENS", *frames, message)


def _runs(
    sampler: PropertySampler, is_violated: BoolArray, excess: Values
) -> Iterator[tuple[tuple[float, float, float], int]]:
    """Yield the first, last and worst frames of each run of violating samples, and the row of the worst sample.

    The worst sample of a run has the largest `excess`.
    """
    for first, last in runs(is_violated):
        worst = first + int(np.argmax(excess[first : last + 1]))
        start, end, worst_frame = sampler.frames[[first, last, worst]].tolist()
        yield (start, end, worst_frame), worst
