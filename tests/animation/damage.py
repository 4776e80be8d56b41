# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage to the table of an action, such as other programs and add-ons may cause."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

Damage = Callable[[Any], None]


def forget(animation) -> None:
    """Forget the session, as if Blender were restarted."""
    animation.store.table.session.session.__init__()


ROW_WORDS = 23


def put(name: str, value: Any, group: Callable[[Any], Any] = lambda table: table) -> Damage:
    """Replace a member of the table or of a group in it."""

    def damage(table: Any) -> None:
        if name in group(table):
            del group(table)[name]
        group(table)[name] = value

    return damage


def without(name: str) -> Damage:
    return lambda table: table.__delitem__(name)


def rows(change: Callable[[np.ndarray], np.ndarray]) -> Damage:
    """Change the array of rows, given as integers."""
    return lambda table: put("rows", change(np.array(table["rows"], dtype=np.int32)))(table)


def tracks(change: Callable[[list[Any]], Any]) -> Damage:
    """Change the list of tracks. The entry of a track is a list of identity, slot, path, state and checksum."""
    return lambda table: put("tracks", json.dumps(change(json.loads(table["tracks"]))))(table)


def first_of(table: Any) -> str:
    """Return the name of the first track's content."""
    return str(json.loads(table["tracks"])[0][0])


def content(change: Callable[[np.ndarray], Any]) -> Damage:
    """Change the array with the content of the first track, given as integers."""

    def damage(table: Any) -> None:
        name = first_of(table)
        words = np.array(table["contents"][name], dtype=np.int32)
        put(name, change(words), lambda table: table["contents"])(table)

    return damage


OF_THE_TABLE: dict[str, Damage] = {
    "a track less": tracks(lambda entries: entries[1:]),
    "tracks twice": tracks(lambda entries: 2 * entries),
    "tracks not JSON": put("tracks", "tracks"),
    "tracks a number": put("tracks", 7),
    "no tracks": without("tracks"),
    "no stamp": without("stamp"),
    "another stamp": put("stamp", 5),
    "the stamp a string": put("stamp", "5"),
    "no schema": without("schema"),
    "schema a string": put("schema", "1"),
    "schema below 0": put("schema", -3),
    "no rows": without("rows"),
    "rows a string": put("rows", "rows"),
    "rows a number": put("rows", 7),
    "rows as floats": rows(lambda words: words.astype(np.float32)),
    "fewer rows": rows(lambda words: words[: 2 * ROW_WORDS]),
    "rows of an odd length": rows(lambda words: words[:-3]),
    "huge rows": rows(lambda words: np.full(2_500_000, 7, dtype=np.int32)),
    "no contents": without("contents"),
    "contents a string": put("contents", "keys"),
    "contents an array": put("contents", [1, 2]),
}
OF_A_TRACK: dict[str, Damage] = {
    "no content": lambda table: table["contents"].__delitem__(first_of(table)),
    "content a string": content(lambda words: "keys"),
    "content a number": content(lambda words: 7),
    "content as floats": content(lambda words: words.astype(np.float32)),
    "less content": content(lambda words: words[:-1]),
    "content twice": content(lambda words: np.tile(words, 2)),
}
DAMAGE = OF_THE_TABLE | OF_A_TRACK
WHOLE = {"an array": np.arange(4, dtype=np.int32), "a string": "table", "a number": 3, "empty": {}}


def damaged(animation, item: bpy.types.Object, damage: str) -> None:
    action: Any = item.animation_data.action
    if damage in WHOLE:
        del action["tcb_animation"]
        action["tcb_animation"] = WHOLE[damage]
    else:
        DAMAGE[damage](action["tcb_animation"])
    forget(animation)


def changed(array: np.ndarray, name: str, value: Any) -> np.ndarray:
    """Return a copy of records in which a field of the second record has another value."""
    array = array.copy()
    array[name][1] = value
    return array


def row(name: str, value: Any) -> Callable[[Any, Any], Any]:
    return lambda rows, state: (changed(rows, name, value), state)


def own(name: str, value: Any) -> Callable[[Any, Any], Any]:
    """Change a field of a key recorded with its handles, in each channel."""
    return lambda rows, state: (
        rows,
        replace(state, channels={i: replace(c, own=changed(c.own, name, value)) for i, c in state.channels.items()}),
    )


def baked(change: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Change each baked channel."""
    return lambda rows, state: (
        rows,
        replace(state, bake=replace(state.bake, channels={i: change(c) for i, c in state.bake.channels.items()})),
    )


def saved(name: str, value: Any) -> Callable[[Any, Any], Any]:
    return baked(lambda channel: replace(channel, keys=changed(channel.keys, name, value)))


def written(**values: Any) -> Callable[[Any, Any], Any]:
    return baked(lambda channel: replace(channel, written=replace(channel.written, **values)))


OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "rows are missing": lambda rows, state: (rows[:2], state),
    "all rows are missing": lambda rows, state: (rows[:0], state),
    "a row's number is another": row("numbers", 0.125),
    "a row is another track's": row("track", 7),
    "a digest is another": lambda rows, state: (rows, replace(state, settings=replace(state.settings, digest=7))),
    "an own key's identity is another": own("identity", 77),
    "a checksum of values is another": written(values=7),
    "a saved key's handle is another": saved("handle_left", 777.0),
    "a saved key's interpolation is another": saved("interpolation", 0),
    "a saved key has no identity": saved("amplitude", 0.0),
    "a place is another": written(frames=np.full(41, 777.0, dtype=np.float32)),
}
"""Contents that another version may have written. Each function takes rows and a track, and returns others."""

IMPOSSIBLE: dict[str, Callable[[Any, Any], Any]] = {
    "rows not in order": lambda rows, state: (rows[::-1].copy(), state),
    **{f"a row's {name}": row(name, value) for name, value in (("numbers", np.nan), ("co", np.inf), ("type", 77))},
    "a row's float": row("period", np.nan),
    "a row's interpolation": row("interpolation", 200),
    "a path": lambda rows, state: (rows, replace(state, path="")),
    "an own key's value": own("value", np.nan),
    "an own key's place": own("co", np.inf),
    "an own key's handle": own("handle_right", np.nan),
    "an own key's interpolation": own("interpolation", 200),
    "an own key's handle type": own("handle_left_type", 9),
    "an own key's placed handles": own("placed", 200),
    "a saved key's place": saved("co", np.nan),
    "a saved key's handle": saved("handle_left", np.inf),
    "a saved key's interpolation": saved("interpolation", 200),
    "a saved key's handle type": saved("handle_right_type", 9),
    "a saved key's type": saved("type", 77),
    "a saved key's selection": saved("flags", 64),
    "an extrapolation": baked(lambda channel: replace(channel, extrapolation="OTHER")),
    "a written extrapolation": written(extrapolation="OTHER"),
    "fewer than no keys": written(count=-1),
    "a value before the bake": baked(lambda channel: replace(channel, rest=np.inf)),
    "edited is none": baked(lambda channel: replace(channel, edited=None)),
    "repeats is none": baked(lambda channel: replace(channel, repeats=None)),
    "an index": lambda rows, state: (
        rows,
        replace(state, bake=replace(state.bake, channels={-1 - i: c for i, c in state.bake.channels.items()})),
    ),
}
"""Contents that no version writes. Each function takes rows and a track, and returns others."""


def write_others(animation, item: bpy.types.Object, name: str) -> None:
    """Write other contents of the first track, with the right checksums."""
    store, action = animation.store.table.custom_property, item.animation_data.action
    before = store.read_table(action)
    rows, state = (OTHERS | IMPOSSIBLE)[name](before.rows, next(iter(before.tracks.values())).state)
    store.write(action, before, replace(before.with_tracks([state], []), rows=rows))
    forget(animation)
