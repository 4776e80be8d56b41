# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions with several layers or strips, which Blender 4.4 to 5.2 can save, load, copy and play, but not create.

They are created in Blender's memory: an array of one pointer is replaced by an array of two pointers that Blender has
allocated for the slots of another action.
"""

from __future__ import annotations

import ctypes
from typing import Any

import bpy

_ACTION = 408 if bpy.app.version >= (5, 0, 0) else 224
_PLACES = {"layers": _ACTION, "slots": _ACTION + 16, "strips": 72}
"""Bytes from the beginning of an action, or of a layer."""


def give_layer(action: Any) -> None:
    """Give a single-layer action a second layer with a strip."""
    other = _with_strip()
    _put_second(_place(action, "layers"), other.layers[0].as_pointer(), _place(other, "layers"))
    assert [len(layer.strips) for layer in action.layers] == [1, 1]


def give_strip(action: Any) -> None:
    """Give the layer of the action a second strip."""
    layer, other = action.layers[0], _with_strip().layers[0]
    _put_second(_place(layer, "strips"), other.strips[0].as_pointer(), _place(other, "strips"))
    assert [len(layer.strips) for layer in action.layers] == [2]


def _with_strip() -> Any:
    made: Any = bpy.data.actions.new("Lender")
    made.layers.new("Over").strips.new(type="KEYFRAME")
    return made


def _put_second(place: int, second: int, lent: int) -> None:
    """Replace the array at the place by an array with a second pointer, taken from `lent`."""
    spare: Any = bpy.data.actions.new("Spare")
    for name in ("one", "two"):
        spare.slots.new("OBJECT", name)
    room = _place(spare, "slots")
    pointers = (ctypes.c_uint64 * 2).from_address(_word(room).value)
    pointers[:] = [_word(_word(place).value).value, second]
    _word(place).value, _word(room).value = _word(room).value, _word(place).value
    _count(place).value, _count(room).value, _count(lent).value = 2, 0, 0


def _place(owner: Any, name: str) -> int:
    """Return the address of the pointer to this array in the struct of `owner`. The length follows the pointer."""
    place, elements = owner.as_pointer() + _PLACES[name], getattr(owner, name)
    assert _count(place).value == len(elements)
    assert _word(_word(place).value).value == elements[0].as_pointer()
    return place


def _word(address: int) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(address)


def _count(place: int) -> ctypes.c_int32:
    return ctypes.c_int32.from_address(place + 8)
