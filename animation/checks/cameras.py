# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions on the properties of cameras.

A camera needs a clip start less than its clip end, valid lens and sensor values, and a focus distance beyond the clip
start. Source: docs/formulas, "Conditions of cameras".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import bpy
import numpy as np

from ..fcurves.keyframes import BoolArray
from ..number_text import number_text
from ..sampling.properties import PropertySampler, Values
from ..translation import n_, rpt_
from .violation import Violation, runs

_POSITIVE = {
    "PERSP": ("lens", "sensor_width", "sensor_height"),
    "ORTHO": ("ortho_scale",),
    "PANO": ("sensor_width",),
}
"""For each camera type, the properties that must be greater than 0, in addition to the clipping distances."""
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
    positive = _POSITIVE.get(camera.type, ())
    sampled = sampler.values(camera, (*positive, *_CLIPS, *_FOCUS))
    values = {path: numbers[:, 0] for path, numbers in sampled.items()}
    limits = {path: camera.bl_rna.properties[path].hard_min for path in (*positive, *_CLIPS)}
    for path, limit in limits.items():
        numbers = values[path]
        yield from _violations(
            sampler,
            path,
            "CLIP" if path in _CLIPS else "LENS",
            numbers < limit if limit > 0.0 else numbers <= limit,
            limit - numbers,
            partial(_too_small, path, limit, numbers),
        )
    start, end = (np.maximum(values[path], limits[path]) for path in _CLIPS)
    yield from _violations(
        sampler,
        rpt_("{:s} and {:s}", *_CLIPS),
        "CLIP",
        start >= end,
        start - end,
        lambda row: rpt_("clip start {:s} is not below clip end {:s}", *map(number_text, (start[row], end[row]))),
    )
    if camera.dof.focus_object is None:
        use_dof, distance = (values[path] for path in _FOCUS)
        yield from _violations(
            sampler,
            "dof.focus_distance",
            "FOCUS",
            (use_dof >= 0.5) & (distance <= start),
            start - distance,
            lambda row: rpt_(
                "focus distance {:s} is not beyond clip start {:s}", *map(number_text, (distance[row], start[row]))
            ),
        )


def _violations(
    sampler: PropertySampler,
    track: str,
    condition: str,
    is_violated: BoolArray,
    excess: Values,
    message: Callable[[int], str],
) -> Iterator[Violation]:
    """Yield a violation for each run of violating samples. The worst sample of a run has the largest `excess`."""
    for first, last in runs(is_violated):
        worst = first + int(np.argmax(excess[first : last + 1]))
        start, end, worst_frame = sampler.frames[[first, last, worst]].tolist()
        yield Violation(sampler.item.name, track, condition, start, end, worst_frame, message(worst))


def _too_small(path: str, limit: float, values: Values, row: int) -> str:
    """Return the message for a value below Blender's minimum or, if the minimum is not positive, not above 0."""
    name, value = rpt_(_NAMES[path]), values[row]
    if limit <= 0.0:
        return rpt_("{:s} {:s} is not above 0", name, number_text(value))
    return rpt_(
        "{name:s} {value:s} is below Blender's minimum of {limit:s}",
        name=name,
        value=number_text(value, 7),
        limit=number_text(limit, 7),
    )
