# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys mirrored in time, whose bias is negated and whose eases are swapped.

Mirrored keys are found by comparing keys with their records, so the result is the same after every undo, and with Live
on or off.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..bake.plans.own_motion import OwnChannels
from ..fcurves.keyframes import ONE_KEY, BoolArray, Float64Array, IndexArray
from ..store.own_keys import OwnKeys
from ..store.table import key_identity
from ..store.table.key_identity import Identities
from ..store.table.rows import PARAMETERS, column_of
from ..store.table.track_records import Written
from ..store.tracks import Track

_SNAPPED = 1.02
"""Tolerance in frames. Blender snaps moved keys to whole frames, each key separately."""
_PARAMETERS = len(PARAMETERS)
_REVERSED = [column_of(name) for name in ("tension", "continuity", "bias", "ease_from", "ease_to")]
_SIGNS = [1.0, 1.0, -1.0, 1.0, 1.0]
"""Factors for the columns _REVERSED that give the parameters of the reversed motion."""


def with_mirrored(track: Track, own: OwnChannels, defaults: Mapping[str, float]) -> dict[int, OwnKeys]:
    """Set the parameters for reversed motion on keys that were mirrored in time since the last bake.

    `defaults` contains the parameters of keys that have none of their own.
    """
    if track.is_baked:
        return dict(own)
    return {
        index: _with_reversed_parameters(keys, mirrored_rows(track, index, keys), defaults)
        for index, keys in own.items()
    }


def _with_reversed_parameters(own: OwnKeys, rows: IndexArray, defaults: Mapping[str, float]) -> OwnKeys:
    """Negate the bias and swap the eases of the keys. Source: docs/formulas, "Reversed time"."""
    if not len(rows):
        return own
    numbers = own.numbers.copy()
    parameters = numbers[rows, :_PARAMETERS]
    forward = np.where(np.isnan(parameters), [defaults.get(name, 0.0) for name in PARAMETERS], parameters)
    backward = forward[:, _REVERSED] * _SIGNS
    # Keys without parameters of their own get them only if reversing makes a difference.
    numbers[rows, :_PARAMETERS] = np.where(backward == forward, parameters, backward)
    # The other numbers are velocities.
    numbers[rows, _PARAMETERS:] *= -1.0
    return own.with_(numbers=numbers)


def written_keys(track: Track, index: int) -> Written | None:
    """Return the record of the keys that were written on a channel, or None without a record."""
    channel = track.state.channels.get(index) if track.state is not None else None
    return None if channel is None else channel.own


def mirrored_rows(track: Track, index: int, own: OwnKeys) -> IndexArray:
    """Return the rows of keys that were mirrored in time since they were written, and of copies of these keys."""
    no_rows = np.empty(0, dtype=np.intp)
    written = written_keys(track, index)
    if written is None or own.identities.tobytes() == written["identity"].tobytes():
        return no_rows
    # A key and its copies have the same row in `written`.
    rows, written_rows = _matching_rows(own.identities, written["identity"])
    before = written["co"][written_rows, 0].astype(np.float64)
    now = own.keys.frames[rows].astype(np.float64)
    is_moved = np.abs(now - before) > ONE_KEY
    # If a key has copies, a copy that did not move was not mirrored.
    is_candidate = is_moved | (np.bincount(written_rows)[written_rows] == 1)
    rows, written_rows = rows[is_candidate], written_rows[is_candidate]
    before, now, is_moved = before[is_candidate], now[is_candidate], is_moved[is_candidate]
    is_single = np.bincount(written_rows)[written_rows] == 1
    groups = _groups(written_rows, now, is_single)
    mirrored = (_mirrored_frames(before, before[group], now[group]) for group in groups)
    expected = next((frames for frames in mirrored if frames is not None), None)
    if expected is None:
        return no_rows
    error = np.abs(expected - now)
    # The key at the center of the mirror has not moved.
    is_mirrored = is_single & (is_moved | (own.keys.select_control_point[rows] & (error <= ONE_KEY)))
    # If the original is at the mirrored frame, copies at other frames were made after mirroring.
    is_mirrored |= ~is_single & np.isin(written_rows, written_rows[error <= _SNAPPED])
    result: IndexArray = rows[is_mirrored]
    return result


def _matching_rows(identities: Identities, others: Identities) -> tuple[IndexArray, IndexArray]:
    """Return the rows of the identities that occur exactly once in `others`, and the matching rows of `others`."""
    distinct, rows_of_distinct, counts = np.unique(others, return_index=True, return_counts=True)
    is_unique = (counts == 1) & (distinct != key_identity.NONE)
    unique, rows_of_unique = distinct[is_unique], rows_of_distinct[is_unique]
    rows = np.flatnonzero(np.isin(identities, unique))
    return rows, rows_of_unique[np.searchsorted(unique, identities[rows])]


def _groups(written_rows: IndexArray, now: Float64Array, is_single: BoolArray) -> list[BoolArray]:
    """Return masks of keys that may have been mirrored together: keys without copies, then also one copy of each."""
    if is_single.all():
        return [is_single]
    rank = _ranks(written_rows, now)
    return [is_single, *(is_single | (rank == number) for number in range(int(rank.max(initial=0)) + 1))]


def _mirrored_frames(frames: Float64Array, before: Float64Array, now: Float64Array) -> Float64Array | None:
    """Mirror the frames as the keys moved from `before` to `now`. Return None if these keys were not mirrored."""
    is_moved = np.abs(now - before) > ONE_KEY
    order = np.argsort(before[is_moved], kind="stable")
    old, new = before[is_moved][order], now[is_moved][order]
    if len(old) < 2 or not (np.diff(new) < 0.0).all():
        return None
    if len(old) == 2 and abs(np.diff(old + new)[0]) > 2.0 * _SNAPPED:
        # Two keys that moved independently are always consistent with some factor.
        return None
    factor = (new[-1] - new[0]) / (old[-1] - old[0])
    if (np.abs(new[0] + factor * (old - old[0]) - new) > _SNAPPED).any():
        return None
    mirrored: Float64Array = new[0] + factor * (frames - old[0])
    return mirrored


def _ranks(rows: IndexArray, frames: Float64Array) -> IndexArray:
    """Return, for each element, the number of equal elements with an earlier frame."""
    order = np.lexsort((frames, rows))
    ordered = rows[order]
    ranks = np.empty(len(rows), dtype=np.intp)
    ranks[order] = np.arange(len(rows)) - np.searchsorted(ordered, ordered)
    return ranks
