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

from ..number_text import number_text
from ..sampling.properties import PropertySampler, Values
from ..translation import n_, rpt_
from .violation import Violation, violations

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
    yield from violations(
        sampler,
        "clip_end",
        "CLIP",
        start >= end,
        start - end,
        lambda row: rpt_("clip start {:s} is not below clip end {:s}", number_text(start[row]), number_text(end[row])),
    )
    if camera.dof.focus_object is None:
        use_dof, distance = (values[path] for path in _FOCUS)
        yield from violations(
            sampler,
            "dof.focus_distance",
            "FOCUS",
            (use_dof >= 0.5) & (distance <= start),
            start - distance,
            lambda row: rpt_(
                "focus distance {:s} is not beyond clip start {:s}", number_text(distance[row]), number_text(start[row])
            ),
        )


def _too_small(sampler: PropertySampler, path: str, values: Values, minimum: float) -> Iterator[Violation]:
    """Yield violations by values below Blender's minimum, or by 0 if that is the minimum.

    Blender plays the minimum in place of a lower value, so the motion stops there. A view of size 0 shows nothing.
    """

    def message(row: int) -> str:
        name, value, limit = rpt_(_NAMES[path]), number_text(values[row], 7), number_text(minimum, 7)
        if minimum > 0.0:
            text = n_("{name:s} {value:s} is below Blender's minimum of {limit:s}")
            return rpt_(text, name=name, value=value, limit=limit)
        return rpt_("{:s} {:s} is not above 0", name, value)

    is_too_small = values < minimum if minimum > 0.0 else values <= 0.0
    yield from violations(sampler, path, "CLIP" if path in _CLIPS else "LENS", is_too_small, minimum - values, message)
