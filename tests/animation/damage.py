# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage to the table of an action, such as other programs and add-ons may cause."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np


def forget(animation) -> None:
    """Forget the session, as if Blender were restarted."""
    animation.store.table.session.session.__init__()


ROW_WORDS = 23


def words(name: str, change) -> Any:
    """Change an array of the table, given as integers."""

    def damage(table: Any) -> None:
        numbers = np.array(table[name], dtype=np.int32)
        del table[name]
        table[name] = change(numbers)

    return damage


def entry(array: str, name: str, value: Any, where: int | slice = slice(None)) -> Any:
    """Change a field of entries of an array."""

    def change(numbers: np.ndarray) -> np.ndarray:
        from bl_ext.user_default.tcb_animation.animation.store.table.custom_property import _ARRAYS

        entries = numbers.view(_ARRAYS[array])
        entries[name][where] = value
        return entries.view(np.int32)

    return words(array, change)


def track(name: str, value: Any) -> Any:
    return entry("tracks", name, value)


def row(name: str, value: Any) -> Any:
    return entry("rows", name, value, 1)


def own(name: str, value: Any) -> Any:
    return entry("own", name, value, 1)


def bake(name: str, value: Any) -> Any:
    return entry("bakes", name, value, 1)


def saved(name: str, value: Any) -> Any:
    return entry("saved", name, value, 1)


def put(name: str, value: Any) -> Any:
    def damage(table: Any) -> None:
        if name in table:
            del table[name]
        table[name] = value

    return damage


def without(name: str) -> Any:
    return lambda table: table.__delitem__(name)


def fewer_rows(table: Any) -> None:
    """Remove rows from a table, and keep the rest consistent."""
    words("rows", lambda numbers: numbers[: 2 * ROW_WORDS])(table)
    table["lengths"] = [2, *list(table["lengths"])[1:]]


def no_rows(table: Any) -> None:
    del table["rows"]
    table["lengths"] = [0, *list(table["lengths"])[1:]]


DAMAGE = {
    "rows are missing": fewer_rows,
    "all rows are missing": no_rows,
    "a row's number is another": row("numbers", 0.125),
    "a row is another track's": row("track", 7),
    "a digest is another": track("digest", 7),
    "another path": put("paths", "scale"),
    "no stamp": without("stamp"),
    "another stamp": put("stamp", 5),
    "the stamp a string": put("stamp", "5"),
    "the stamp an array": put("stamp", [1, 2]),
    "no schema": without("schema"),
    "schema a string": put("schema", "1"),
    "schema a float": put("schema", 1.5),
    "schema 0": put("schema", 0),
    "schema below 0": put("schema", -3),
    "no rows": without("rows"),
    "no tracks": without("tracks"),
    "no paths": without("paths"),
    "paths a number": put("paths", 3),
    "paths an array": put("paths", [1, 2]),
    "too many paths": put("paths", "location\nscale"),
    "rows a string": put("rows", "rows"),
    "rows a number": put("rows", 7),
    "rows a dictionary": put("rows", {"a": 1}),
    "rows as doubles": words("rows", lambda numbers: numbers.astype(np.float64)),
    "rows as floats": words("rows", lambda numbers: numbers.astype(np.float32)),
    "rows of an odd length": words("rows", lambda numbers: numbers[:-3]),
    "rows not in order": words("rows", lambda numbers: np.roll(numbers, ROW_WORDS)),
    "rows twice": words("rows", lambda numbers: np.tile(numbers, 2)),
    "huge rows": words("rows", lambda numbers: np.full(2_500_000, 7, dtype=np.int32)),
    "a row's number is none": row("numbers", np.nan),
    "a row's number is infinite": row("numbers", np.inf),
    "a row's place is none": row("co", np.nan),
    "a row's handle is none": row("handle_left", np.nan),
    "a row's float is none": row("period", np.nan),
    "a row's interpolation is none": row("interpolation", 200),
    "a row's handle type is none": row("handle_left_type", 9),
    "a row's type is none": row("type", 77),
    "tracks as floats": words("tracks", lambda numbers: numbers.astype(np.float64)),
    "tracks of an odd length": words("tracks", lambda numbers: numbers[:-1]),
    "tracks twice": words("tracks", lambda numbers: np.tile(numbers, 2)),
    "a choice is none": track("choices", 200),
    "channels of an odd length": put("channels", [1]),
    "own a string": put("own", "keys"),
    "places a string": put("places", "frames"),
    "saved keys of an odd length": put("saved", [1, 2, 3]),
    "own of an odd length": put("own", [1, 2, 3]),
}
BAKED_DAMAGE = {
    "no channels": without("channels"),
    "no own keys": without("own"),
    "fewer own keys": words("own", lambda numbers: numbers[:-10]),
    "an extrapolation is none": words("channels", lambda numbers: np.where(np.arange(len(numbers)) == 2, 9, numbers)),
    "a count below 0": words("channels", lambda numbers: np.where(numbers == 4, -4, numbers)),
    "an own key's value is none": own("value", np.nan),
    "an own key's value is infinite": own("value", np.inf),
    "an own key's place is none": own("co", np.nan),
    "an own key's place is infinite": own("co", np.inf),
    "an own key's place is another": own("co", 777.0),
    "an own key's handle is none": own("handle_right", np.nan),
    "an own key's interpolation is none": own("interpolation", 200),
    "an own key's handle type is none": own("handle_left_type", 9),
    "an own key's placed handles are none": own("placed", 200),
    "an own key's identity is another": own("identity", 77),
    "a channel's flags are none": entry("channels", "flags", 8),
    "a channel's number is below 0": entry("channels", "index", -1),
    "a channel's track is none": entry("channels", "track", 7, 1),
    "no bakes": without("bakes"),
    "no saved keys": without("saved"),
    "fewer saved keys": words("saved", lambda numbers: numbers[:-11]),
    "no places": without("places"),
    "fewer places": words("places", lambda numbers: numbers[:-2]),
    "a bake's extrapolation is none": bake("extrapolation", 9),
    "a bake has written no extrapolation": bake("written", -1),
    "a bake's flags are none": bake("flags", 64),
    "a bake's number is below 0": bake("index", -1),
    "a bake's track is none": bake("track", 7),
    "a bake has less than no keys": bake("count", -1),
    "less than no keys are saved": bake("saved", -4),
    "a value before the bake is none": bake("rest", np.nan),
    "a checksum of values is another": bake("values", 7),
    "a saved key's place is none": saved("co", np.nan),
    "a saved key's place is infinite": saved("co", np.inf),
    "a saved key's place is another": saved("co", 777.0),
    "a saved key's handle is none": saved("handle_left", np.nan),
    "a saved key's handle is another": saved("handle_left", 777.0),
    "a saved key's interpolation is none": saved("interpolation", 200),
    "a saved key's interpolation is another": saved("interpolation", 0),
    "a saved key's handle type is none": saved("handle_right_type", 9),
    "a saved key's type is none": saved("type", 77),
    "a saved key's selection is none": saved("flags", 64),
    "a saved key has no identity": saved("amplitude", 0.0),
    "a place is another": entry("places", "frame", 777.0, 1),
    "what plays is none": track("plays", 7),
    "options are not numbers": track("options", np.nan),
    "options out of range": track("options", -7.0),
    "options before the bake are not numbers": track("free_options", np.nan),
}
POSSIBLE = {
    "rows are missing",
    "all rows are missing",
    "a row's number is another",
    "a row is another track's",
    "a digest is another",
    "another path",
    "no stamp",
    "another stamp",
    "the stamp a string",
    "the stamp an array",
    "no rows",
    "an own key's identity is another",
    "a checksum of values is another",
    "a saved key's handle is another",
    "a saved key's interpolation is another",
    "a saved key has no identity",
    "a place is another",
}
"""Damage that leaves a table valid except for its checksum."""
WHOLE = {"an array": np.arange(4, dtype=np.int32), "a string": "table", "a number": 3, "empty": {}}


def damaged(animation, item: bpy.types.Object, damage: str, stamp_anew: bool = False) -> None:
    """Damage the table. With `stamp_anew`, its lengths and checksum are made consistent again."""
    action: Any = item.animation_data.action
    if damage in WHOLE:
        del action["tcb_animation"]
        action["tcb_animation"] = WHOLE[damage]
    else:
        (DAMAGE | BAKED_DAMAGE)[damage](action["tcb_animation"])
    if stamp_anew:
        _stamp(animation, action["tcb_animation"])
    forget(animation)


def _stamp(animation, stored: Any) -> None:
    """Write the lengths and the checksum of the arrays, if the arrays can be read."""
    custom_property = animation.store.table.custom_property
    dtypes = custom_property._ARRAYS
    try:
        arrays = {name: custom_property._words(stored, name, dtype).view(dtype) for name, dtype in dtypes.items()}
        stamp = custom_property.Table(arrays, stored["paths"]).stamp
    except (AttributeError, KeyError, TypeError, ValueError):
        return
    stored["lengths"] = [len(each) for each in arrays.values()]
    stored["stamp"] = stamp
