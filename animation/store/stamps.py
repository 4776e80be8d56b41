# SPDX-License-Identifier: GPL-3.0-or-later
"""What tells the keys that a bake wrote from those that an animator made.

While a curve is baked each of its keys carries a stamp in `amplitude`, `period` and `back`, which linear and Bezier
segments do not use: what the key is, and the frame and value that it was left with. The stamps of keys that were
edited since are read in `carried`.
"""

from __future__ import annotations

import bpy
import numpy as np

from ..fcurves.keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    FloatArray,
    IndexArray,
    Keyframes,
    read_amplitudes,
)

# Amplitudes that nobody types; exact in float32.
GENERATED = 1048583.0
BAKED_KEY = 1048589.0
"""The animator's key; the segment after it is baked: the bake left it linear."""
OUTSIDE_KEY = 1048601.0
"""The animator's key; the segment after it lies outside the baked range: the bake left its interpolation alone."""
CURVE_KEY = 1048613.0
"""The animator's key; the segments on both sides are baked as curves: the bake placed both handles."""
CURVE_START = 1048627.0
"""The animator's key; the segment after it is baked as a curve: the bake left it Bezier and placed its right handle."""
CURVE_END = 1048633.0
"""The animator's key; the segment before it is baked as a curve, of which the left handle is, the one after it not."""
SAMPLED_KEY = 1048637.0
"""The animator's key of a curve that is all samples: the bake left it linear, with its handles on itself."""
_OWN_KINDS = (BAKED_KEY, OUTSIDE_KEY, CURVE_KEY, CURVE_START, CURVE_END, SAMPLED_KEY)

SAME_FRAME = 1e-3
"""Frames. Keys nearer than this are at one frame: far above the float32 error of moving a key, and a tenth of the
distance below which Blender takes two keys as one."""
ONE_KEY = 0.0101
"""Frames. Blender replaces a key by one that is pasted or moved nearer than 0.01 to it."""


def unstamped(keys: Keyframes) -> Keyframes:
    """The same keys as plain ones."""
    marked = has_stamp(keys)
    ours = (keys.type == KEY_TYPE["GENERATED"]) & (keys.amplitude == GENERATED)
    return keys.with_(
        type=np.where(ours, np.uint8(KEY_TYPE["KEYFRAME"]), keys.type),
        amplitude=np.where(marked, np.float32(DEFAULT_AMPLITUDE), keys.amplitude),
        period=np.where(marked, np.float32(DEFAULT_PERIOD), keys.period),
        back=np.where(marked, np.float32(DEFAULT_BACK), keys.back),
    )


def is_stamped(fcurve: bpy.types.FCurve) -> bool:
    """Whether any key of the curve has a stamp."""
    return bool(_marked(read_amplitudes(fcurve)).any())


def has_stamp(keys: Keyframes) -> BoolArray:
    return _marked(keys.amplitude)


def _marked(amplitude: FloatArray) -> BoolArray:
    marked: BoolArray = (amplitude == GENERATED) | is_own_kind(amplitude)
    return marked


def is_own_kind(amplitude: FloatArray) -> BoolArray:
    """Which stamps are those of the animator's keys."""
    # All of them lie close together, far from what anybody types: most curves have none.
    own: BoolArray = (amplitude >= min(_OWN_KINDS)) & (amplitude <= max(_OWN_KINDS))
    if own.any():
        own = np.logical_or.reduce([amplitude == kind for kind in _OWN_KINDS])
    return own


def placed_handles(keys: Keyframes, starts: IndexArray) -> tuple[BoolArray, BoolArray]:
    """Of which keys the bake placed the left, and the right handle; `starts`: the rows at which channels start."""
    ours = (keys.amplitude == GENERATED) & (keys.interpolation == INTERPOLATION["BEZIER"])
    right = ours | (keys.amplitude == CURVE_KEY) | (keys.amplitude == CURVE_START)
    left = ours | (keys.amplitude == CURVE_KEY) | (keys.amplitude == CURVE_END)
    # One that plays by the numbers that a stamp would replace has none.
    follows = np.zeros(len(keys), dtype=np.bool_)
    follows[1:] = right[:-1]
    follows[starts[starts < len(keys)]] = False
    return left | (follows & ~has_stamp(keys)), right


def left_as_baked(own: Keyframes) -> BoolArray:
    """Which of the animator's keys begin a baked segment and have the interpolation that the bake gave them."""
    linear = ((own.amplitude == BAKED_KEY) | (own.amplitude == SAMPLED_KEY)) & (
        own.interpolation == INTERPOLATION["LINEAR"]
    )
    curved = (own.amplitude == CURVE_KEY) | (own.amplitude == CURVE_START)
    result: BoolArray = linear | (curved & (own.interpolation == INTERPOLATION["BEZIER"]))
    return result
