# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles that were dragged by hand: tension, continuity and bias become those that bring them nearest to there.

A drag is told from what Blender does to handles by itself: all keys of the channel are as they were written, and of
a key one handle that the bake has placed stands elsewhere, which is selected while the key is not. What it means is put
into the key's row, and the handle back to where it was written, so that the record for Restore stays; the bake that
follows places it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ...interp.bending import bend, tangents_of
from ...words import n_, rpt_
from ..bake.splines import bends_by_parameters
from ..fcurves.channels import Channels
from ..fcurves.keyframes import BoolArray, Keyframes, read
from ..report import Report
from ..store.frame_functions import function_of
from ..store.own_keys import LEFT_PLACED, RIGHT_PLACED, OwnKeys, identities_of, read_own_keys
from ..store.recording import Part, recorded, write_identities
from ..store.rows import PARAMETERS, joined
from ..store.table import Channel, Written, update
from ..store.tracks import Track

Float64Array = npt.NDArray[np.float64]

_SHORTEST = 1e-3
"""Frames. A handle above or below its key has no slope."""
_EASE_TO, _EASE_FROM = (PARAMETERS.index(name) for name in ("ease_to", "ease_from"))
_NEAR = 0.02
"""Of both chords: tangents that far off are where the handle is."""
_FIXED = n_("this handle follows the keys and their parameters: it is back")
_NEAREST = n_("the handle is as near as tension, continuity and bias can bring it")


def take_dragged_handles(channels: Channels, tracks: Sequence[Track]) -> Report:
    """Give keys of tracks that handles play the parameters that dragged handles mean; notes say what these can't do."""
    report = Report()
    for track in tracks:
        options = track.settings.options
        if not track.baked or options is None or options.output != "HANDLES":
            continue
        dragged = {index: found for index in track.channels if (found := _dragged(track, index)) is not None}
        if dragged:
            _take(channels, track, dragged, options.defaults, report)
    return report


_Sides = tuple[BoolArray, BoolArray]
"""Of which keys the left handle was dragged, and of which the right one."""


def _dragged(track: Track, index: int) -> _Sides | None:
    """Which handles of a channel were dragged; None where none was."""
    written = track.state.channels.get(index) if track.state is not None else None
    if written is None:
        return None
    keys = read(track.channels[index])
    if len(keys) != len(written.own) or identities_of(keys).tobytes() != written.own["identity"].tobytes():
        return None
    if (keys.co != written.own["co"]).any():
        return None
    left, right = (_moved(keys, written.own, name) for name in _NAMES)
    alone = (left ^ right) & ~keys.select_control_point
    by_bake_left, by_bake_right = ((written.own["placed"] & bit) != 0 for bit in (LEFT_PLACED, RIGHT_PLACED))
    sides = (
        left & alone & by_bake_left & keys.select_left_handle,
        right & alone & by_bake_right & keys.select_right_handle,
    )
    return sides if sides[0].any() or sides[1].any() else None


def _moved(keys: Keyframes, written: Written, name: str) -> BoolArray:
    same_type = getattr(keys, f"{name}_type") == written[f"{name}_type"]
    moved: BoolArray = same_type & (getattr(keys, name) != written[name]).any(axis=1)
    return moved


def _take(
    channels: Channels, track: Track, dragged: Mapping[int, _Sides], defaults: Mapping[str, float], report: Report
) -> None:
    state = track.state
    assert state is not None
    goals = {index: read(track.channels[index]) for index in dragged}
    for index, sides in dragged.items():
        _put_back(track.channels[index], goals[index], state.channels[index], sides)
    own = read_own_keys(track)
    parts, numbers, chosen = [], [], []
    for index, sides in dragged.items():
        channel = _Channel(own[index], _filled(own[index], defaults), track.settings.cycle == "LOOP")
        found, there = channel.parameters.copy(), np.zeros(len(channel.parameters), dtype=np.bool_)
        for side, rows in zip(_NAMES, sides, strict=True):
            for key in np.flatnonzero(rows).tolist():
                frame = float(channel.frames[key])
                result = channel.bent(key, side, _slope(goals[index], key, side)) if _bends(track) else None
                if result is None or not result.is_near:
                    report.notes.append(str(track.refusal(rpt_(_FIXED if result is None else _NEAREST), frame)))
                if result is not None:
                    found[key, :3], there[key] = result.parameters, True
        parts.append(Part(state.identity, index, own[index], True))
        numbers.append({name: found[there, column] for column, name in enumerate(PARAMETERS[:3])})
        chosen.append(there)
    named, fresh = recorded(parts, numbers, chosen)
    written = dict(state.channels)
    for part, after in zip(parts, named, strict=True):
        write_identities(track.channels[part.index], after)
        noted = written[part.index].own.copy()
        noted["identity"] = after.identities
        written[part.index] = replace(written[part.index], own=noted)
    track.state = replace(state, channels=written)
    update(channels.action, joined(fresh), [track.state])


def _bends(track: Track) -> bool:
    """Whether handles lie along the tangents that the parameters give."""
    return not track.is_rotation and bends_by_parameters(track, track.settings) and function_of(track) is None


def _put_back(fcurve: bpy.types.FCurve, keys: Keyframes, written: Channel, sides: _Sides) -> None:
    """Put dragged handles back to where they were written."""
    for name, dragged in zip(_NAMES, sides, strict=True):
        if dragged.any():
            places = np.where(dragged[:, np.newaxis], written.own[name], getattr(keys, name))
            fcurve.keyframe_points.foreach_set(name, places.astype(np.float32).ravel())


def _filled(own: OwnKeys, defaults: Mapping[str, float]) -> Float64Array:
    """The parameters of keys, shape (n, 5), and the defaults where they have none."""
    otherwise = [defaults.get(name, 0.0) for name in PARAMETERS]
    return np.where(np.isnan(own.parameters), otherwise, own.parameters).astype(np.float64)


def _slope(keys: Keyframes, key: int, side: str) -> float:
    """The slope, a frame, of a handle where it was dragged to."""
    frames, values = (getattr(keys, side)[key] - keys.co[key]).astype(np.float64)
    away = max(abs(frames), _SHORTEST)
    return float(values / (away if side == "handle_right" else -away))


class _Bent(NamedTuple):
    parameters: Float64Array
    """Tension, continuity and bias."""
    is_near: bool
    """The handle comes to where it was dragged."""


@dataclass(frozen=True, eq=False)
class _Channel:
    """The own keys of a channel, their parameters, shape (n, 5), and whether its ends meet."""

    own: OwnKeys
    parameters: Float64Array
    is_loop: bool

    @property
    def frames(self) -> Float64Array:
        return self.own.keys.frames.astype(np.float64)

    @property
    def values(self) -> Float64Array:
        return self.own.keys.values.astype(np.float64)

    def bent(self, key: int, side: str, slope: float) -> _Bent | None:
        """The parameters with which a key's handle comes nearest to the slope; None where they don't place it: beside
        an ease, at the end of a loop, and at inner keys where a spline ends."""
        after = side == "handle_right"
        first = key if after else key - 1
        if self.parameters[first, _EASE_FROM] or self.parameters[first + 1, _EASE_TO]:
            return None
        if key in (0, len(self.values) - 1):
            return None if self.is_loop else self._bent_end(key, slope)
        if self.own.ends_spline[[key - 1, key]].any():
            return None
        chords = np.diff(self.values[key - 1 : key + 2])
        widths = np.diff(self.frames[key - 1 : key + 2])
        share = widths[:1] / widths.sum()
        present = self.parameters[key, :3, np.newaxis]
        goals = [*tangents_of(present, chords[:1], chords[1:], share)]
        goals[after] = np.array([slope * widths[int(after)]])
        found = bend(chords[:1], chords[1:], share, goals[0], goals[1], present)
        return _Bent(found.parameters[:, 0], bool(found.off[0] <= _NEAR * np.abs(chords).sum()))

    def _bent_end(self, key: int, slope: float) -> _Bent | None:
        """The same of the first or the last key, whose tangent goes by its tension and by that of its neighbour."""
        step = 1 if key == 0 else -1
        chord = self.values[key + step] - self.values[key]
        width = self.frames[key + step] - self.frames[key]
        whole = chord
        beyond = key + 2 * step
        inner = key + step
        if 0 <= beyond < len(self.values) and not self.own.ends_spline[[inner - 1, inner]].any():
            order = slice(None, None, step)
            values, frames = (each[[key, inner, beyond]][order] for each in (self.values, self.frames))
            chords, widths = np.diff(values), np.diff(frames)
            tangents = tangents_of(
                self.parameters[inner, :3, np.newaxis], chords[:1], chords[1:], widths[:1] / widths.sum()
            )
            whole = 1.5 * chord - 0.5 * step * float(tangents[0 if step == 1 else 1][0])
        if whole == 0.0:
            return _Bent(self.parameters[key, :3], slope == 0.0)
        wanted = 1.0 - slope * width / whole
        tension = float(np.clip(wanted, -1.0, 1.0))
        return _Bent(np.array([tension, *self.parameters[key, 1:3]]), abs(tension - wanted) <= _NEAR)


_NAMES = ("handle_left", "handle_right")
