# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects with few keys, and copies with a plain key at each frame."""

from __future__ import annotations

import bpy
import numpy as np

from tests.animation.curves import channels, co, fcurves, new_object


def drawn(random, count, shortest=5, longest=20):
    """Return random frames of keys."""
    return np.cumsum(np.concatenate(([1], random.integers(shortest, longest, count - 1)))).tolist()


def keyed(random, frames, mode="XYZ"):
    """Return an object with random keys at the frames given for each path."""
    obj = new_object("Keyed", mode)
    for path, own in frames.items():
        for frame in own:
            value = 0.5 * random.normal(size=len(getattr(obj, path)))
            if path == "rotation_quaternion":
                value[0] = 1.0
                value /= np.linalg.norm(value)
            setattr(obj, path, value)
            obj.keyframe_insert(path, frame=frame)
    return obj


def sampled(obj):
    """Return another object with the same motion and a linear key at each frame, as importers create them."""
    other = bpy.data.objects.new("Sampled", None)
    other.rotation_mode = obj.rotation_mode
    bpy.context.scene.collection.objects.link(other)
    for (path, index), fcurve in channels(obj).items():
        first, last = (int(each) for each in fcurve.range())
        for frame in range(first, last + 1):
            values = getattr(other, path)
            values[index] = fcurve.evaluate(frame)
            other.keyframe_insert(path, index=index, frame=frame)
    for fcurve in fcurves(other):
        for point in fcurve.keyframe_points:
            point.interpolation = "LINEAR"
    return other


def frames_of(obj, path):
    """Return the key frames that all channels of the property share."""
    every = {tuple(co(fcurve)[:, 0].tolist()) for (own, _), fcurve in channels(obj).items() if own == path}
    assert len(every) == 1
    return list(every.pop())
