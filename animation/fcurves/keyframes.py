# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of an F-curve as arrays, one per attribute, and Blender's enum values for these attributes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...interp.key_batch import BoolArray as BoolArray
from ...interp.key_batch import IndexArray as IndexArray
from ...interp.keys import Float32Array as Float32Array
from ...interp.keys import Float64Array as Float64Array
from ..records import record

EnumArray = npt.NDArray[np.uint8]


def _enum(name: str) -> dict[str, int]:
    """Return Blender's numbers for the values of a key's enum, by identifier."""
    prop: Any = bpy.types.Keyframe.bl_rna.properties[name]
    return {item.identifier: item.value for item in prop.enum_items}


INTERPOLATION = _enum("interpolation")
EASING = _enum("easing")
HANDLE = _enum("handle_left_type")
KEY_TYPE = _enum("type")
AUTOMATIC = np.zeros(256, dtype=np.bool_)
"""For each handle type, true if Blender places the handle automatically."""
AUTOMATIC[[HANDLE[name] for name in ("AUTO", "AUTO_CLAMPED", "VECTOR")]] = True
BY_NUMBERS = (INTERPOLATION["BACK"], INTERPOLATION["ELASTIC"])
"""Interpolation types that use `back`, `amplitude` and `period`."""

# Blender's values for new keys, used if a key's values are unknown.
DEFAULT_BACK = 1.70158
DEFAULT_AMPLITUDE = 0.8
DEFAULT_PERIOD = 4.1


@record(eq=False)
class Keyframes:
    """The keys of one channel, ordered by frame.

    The fields are named after the attributes of `bpy.types.Keyframe`. `co` and handles have shape (n, 2), all other
    fields (n,).
    """

    co: Float32Array
    handle_left: Float32Array
    handle_right: Float32Array
    handle_left_type: EnumArray
    handle_right_type: EnumArray
    interpolation: EnumArray
    easing: EnumArray
    type: EnumArray
    back: Float32Array
    amplitude: Float32Array
    period: Float32Array
    select_control_point: BoolArray
    select_left_handle: BoolArray
    select_right_handle: BoolArray

    def __len__(self) -> int:
        return len(self.co)

    @property
    def frames(self) -> Float32Array:
        return self.co[:, 0]

    @property
    def values(self) -> Float32Array:
        return self.co[:, 1]

    @property
    def stepped(self) -> BoolArray:
        """Return a mask of the keys with CONSTANT interpolation, at which splines end on both sides."""
        stepped: BoolArray = self.interpolation == INTERPOLATION["CONSTANT"]
        return stepped

    def take(self, rows: IndexArray | BoolArray) -> Keyframes:
        """Return the keys selected by indices or by a mask."""
        return Keyframes(**{name: getattr(self, name)[rows] for name in NAMES})

    def replaced(self, rows: BoolArray, others: Keyframes) -> Keyframes:
        """Return a copy in which `others` replaces the keys in the mask `rows`."""
        result = self.copy()
        for name in NAMES:
            getattr(result, name)[rows] = getattr(others, name)
        return result

    def copy(self) -> Keyframes:
        return Keyframes(**{name: getattr(self, name).copy() for name in NAMES})

    def with_(self, **arrays: npt.NDArray[np.generic]) -> Keyframes:
        """Return a copy with the given arrays replaced."""
        others = {name: getattr(self, name) for name in NAMES if name not in arrays}
        return Keyframes(**others, **arrays)  # type: ignore[arg-type]


NAMES = tuple(field.name for field in fields(Keyframes))
"""Names of all attributes."""
SIDES = ("handle_left", "handle_right")
"""Positions of the handles."""
PAIRS = ("co", *SIDES)
"""Attributes that consist of a frame and a value."""
KINDS = ("handle_left_type", "handle_right_type", "interpolation")
"""Enums that determine the shape of a curve, apart from easing."""
MARKS = ("co", "type", "back", "amplitude", "period")
"""Attributes that hold the position and identity of a key."""
FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")
"""Selection flags of the key and its handles."""
DTYPES: dict[str, type[np.generic]] = {
    name: np.float32 if name in {*PAIRS, "back", "amplitude", "period"} else np.bool_ if name in FLAGS else np.uint8
    for name in NAMES
}
"""Type of each attribute's array."""


def _blank(count: int) -> Keyframes:
    """Create keys at frame 0 in which all attributes are 0."""
    return Keyframes(
        **{name: np.zeros((count, 2) if name in PAIRS else count, dtype=dtype) for name, dtype in DTYPES.items()}
    )


NO_KEYS = _blank(0)


def both(pairs: BoolArray) -> BoolArray:
    """Return a mask of the pairs, shape (n, 2), whose elements are both true. `all` would take ten times as long."""
    true: BoolArray = pairs[:, 0] & pairs[:, 1]
    return true


def either(pairs: BoolArray) -> BoolArray:
    """Return a mask of the pairs, shape (n, 2), with at least one true element. `any` would take ten times as long."""
    true: BoolArray = pairs[:, 0] | pairs[:, 1]
    return true


def made_like(keys: Keyframes, co: npt.ArrayLike, left: npt.ArrayLike, right: npt.ArrayLike) -> Keyframes:
    """Create unselected keys with these positions and handles, and the other attributes of the given keys."""
    pairs = {"co": co, "handle_left": left, "handle_right": right}
    defaults = {"back": DEFAULT_BACK, "amplitude": DEFAULT_AMPLITUDE, "period": DEFAULT_PERIOD}
    return keys.with_(
        **{name: np.array(pair, dtype=np.float32) for name, pair in pairs.items()},
        **{name: np.full(len(keys), default, dtype=np.float32) for name, default in defaults.items()},
        **{name: np.zeros(len(keys), dtype=np.bool_) for name in FLAGS},
    )


def free_keys(
    frames: Float64Array,
    values: Float64Array,
    slopes: tuple[Float64Array, Float64Array],
    lengths: tuple[Float64Array, Float64Array],
    interpolation: EnumArray,
) -> Keyframes:
    """Create unselected keys with FREE handles.

    `slopes` and `lengths` contain the slopes and the lengths, in frames, of the left and right handles.
    """
    count = len(frames)
    (left_slope, right_slope), (left_length, right_length) = slopes, lengths
    keys = made_like(
        _blank(count),
        np.stack((frames, values), axis=-1),
        np.stack((frames - left_length, values - left_slope * left_length), axis=-1),
        np.stack((frames + right_length, values + right_slope * right_length), axis=-1),
    )
    return keys.with_(
        handle_left_type=np.full(count, HANDLE["FREE"], dtype=np.uint8),
        handle_right_type=np.full(count, HANDLE["FREE"], dtype=np.uint8),
        interpolation=interpolation,
        type=np.full(count, KEY_TYPE["KEYFRAME"], dtype=np.uint8),
    )
