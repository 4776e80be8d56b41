# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters follow their keys where Blender leaves them behind: a Graph Editor selection moved, a single row dragged,
keys deleted by a keying set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...words import rpt_
from ..fcurves.frames import is_among, union
from ..fcurves.keyframes import FloatArray, Keyframes, places, read, write
from .originals import Originals
from .stamps import SAME_FRAME
from .tracks import Track


def pair(track: Track, kept: Mapping[int, Originals]) -> None:
    """Find the keys of parameters that stand at no key: in `track.moved`, for `follow` to write.

    By the stamps of the last bake a key is known that has moved since; what is left of both is paired in order, and
    what is left then had a key that was deleted. Without a bake nothing is known, and nothing done.
    """
    track.moved = {}
    if not track.saved or not track.parameters:
        return
    held = union([places(companion)[::2] for companion in track.parameters.values()])
    # Where parameters stayed behind, another key may stand at their frames by now.
    keys = [_unmoved(original) if original.stayed else original.keys.frames for original in kept.values()]
    lost = held[~is_among(held, union(keys))]
    if not len(lost):
        return
    stood = np.array([before for original in kept.values() for before in original.moves], dtype=np.float32)
    now = np.array([after for original in kept.values() for after in original.moves.values()], dtype=np.float32)
    left = []
    for frame in lost.tolist():
        row = np.flatnonzero(np.abs(stood - frame) <= SAME_FRAME)
        if len(row):
            track.moved[frame] = float(now[row[0]])
        else:
            left.append(frame)
    made = union([original.unrecorded for original in kept.values()])
    free = made[~is_among(made, held)].tolist()
    track.moved |= {frame: free[order] if order < len(free) else None for order, frame in enumerate(left)}


def _unmoved(original: Originals) -> FloatArray:
    frames = original.keys.frames
    return frames[~is_among(frames, np.sort(np.array(list(original.moves.values()), dtype=np.float32)))]


def follow(track: Track) -> str:
    """Move the parameters to their keys, and remove those whose keys are gone; returns what was done, in words."""
    if not track.moved:
        return ""
    for companion in track.parameters.values():
        write(companion, _placed(read(companion), track.moved))
        companion.update()
    moved = sum(frame is not None for frame in track.moved.values())
    gone = len(track.moved) - moved
    track.moved = {}
    if moved and gone:
        return rpt_("{:s} and {:s}", _moved(moved), _gone(gone))
    return _moved(moved) if moved else _gone(gone)


def _placed(keys: Keyframes, moved: Mapping[float, float | None]) -> Keyframes:
    """The parameters' keys at their places; one that belongs where another stands already is left out."""
    stand = np.ones(len(keys), dtype=np.bool_)
    co, left, right = keys.co.copy(), keys.handle_left.copy(), keys.handle_right.copy()
    goes = np.zeros(len(keys), dtype=np.bool_)
    for before, after in moved.items():
        there = np.abs(keys.frames - np.float32(before)) <= SAME_FRAME
        if after is None:
            stand &= ~there
            continue
        shift = np.float32(after) - keys.frames[there]
        co[there, 0] = np.float32(after)
        left[there, 0] += shift
        right[there, 0] += shift
        goes |= there
    staying = keys.frames[stand & ~goes]
    stand &= ~(goes & is_among(co[:, 0], staying))
    placed = replace(keys, co=co, handle_left=left, handle_right=right).take(stand)
    return placed.take(np.argsort(placed.frames, kind="stable"))


def _moved(n: int) -> str:
    if n == 1:
        return rpt_("parameters of {:d} key moved after them", n)
    return rpt_("parameters of {:d} keys moved after them", n)


def _gone(n: int) -> str:
    if n == 1:
        return rpt_("parameters of {:d} key removed, which are gone", n)
    return rpt_("parameters of {:d} keys removed, which are gone", n)
