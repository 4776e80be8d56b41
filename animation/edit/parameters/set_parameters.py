# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that set the parameters of many keys, or reset them to defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ...bake.pipeline import rebake
from ...errors import AnimationError
from ...fcurves.channels import Channels, channels_of, users_of_channels
from ...fcurves.frames import SAME_FRAME
from ...fcurves.keyframes import INTERPOLATION, BoolArray
from ...live.meaning_of_edits import are_implied
from ...store.enable_tracks import enable_tracks
from ...store.own_keys import OwnKeys
from ...store.parameters import Numbers, check_parameter
from ...store.table.stored_bake_options import Options
from ...store.tracks import Track
from ...translation import rpt_
from ..track_keys import TrackKeys, found_again
from ..track_settings import writable
from .write_parameters import NAMES, Change, column_in_channel, write_numbers


def set_parameters(
    keys: TrackKeys,
    given: Mapping[str, Numbers | float],
    defaults: Mapping[str, float] | None = None,
    interpolation: str | None = None,
) -> None:
    """Set the parameters and the interpolation of keys. Each parameter has one value for all keys, or one per key.

    A plain track becomes TCB. `defaults` contains the parameters of keys that have none of their own. If `defaults` is
    given, a value of 0 is not written for keys whose default is 0. Raises AnimationError if the track can't be changed
    or a value is out of range, and ValueError if Blender has no such interpolation. In both cases, nothing is changed.
    """
    for error in set_parameters_of_each([(keys, given)], defaults, interpolation):
        raise error


def set_parameters_of_each(
    every: Iterable[tuple[TrackKeys, Mapping[str, Numbers | float]]],
    defaults: Mapping[str, float] | None = None,
    interpolation: str | None = None,
    is_drag_step: bool = False,
) -> list[AnimationError]:
    """Set parameters of keys on several tracks (see `set_parameters`).

    If `is_drag_step` is true, live tracks are updated immediately. Otherwise, the action is not evaluated.
    """
    if interpolation is not None and interpolation not in INTERPOLATION:
        known = ", ".join(INTERPOLATION)
        raise ValueError(rpt_("interpolation {!r} is not one of {:s}", interpolation, known))
    errors = []
    changes: dict[int, dict[tuple[int, str], Change]] = {}
    for keys, given in every:
        if not len(keys):
            continue
        try:
            pending = changes.setdefault(channels_of(keys.datablock).action.session_uid, {})
            place = (keys.track.slot, keys.track.path)
            if place in pending:
                # Tracks of datablocks that share an action appear twice.
                write_numbers(list(pending.values()), interpolation, is_drag_step)
                pending.clear()
                (keys,) = found_again([keys])
            pending[place] = _change(keys, given, defaults)
        except AnimationError as error:
            errors.append(error)
    for pending in filter(None, changes.values()):
        write_numbers(list(pending.values()), interpolation, is_drag_step)
    return errors


def _change(keys: TrackKeys, given: Mapping[str, Numbers | float], defaults: Mapping[str, float] | None) -> Change:
    """Return the change that sets these parameters. Make a plain track TCB."""
    numbers = {name: np.broadcast_to(np.asarray(value, dtype=np.float64), len(keys)) for name, value in given.items()}
    for name, values in numbers.items():
        check_parameter(keys.track, name, values, keys.frames)
    channels, track, keys = _up_to_date(keys)
    if not track.enabled:
        enable_tracks(channels, [track])

    def changed(index: int, own: OwnKeys, there: BoolArray) -> dict[str, Numbers]:
        rows = np.searchsorted(keys.frames, own.keys.frames[there] - np.float32(SAME_FRAME))
        result = {}
        for name, values in numbers.items():
            column = column_in_channel(track, index, name)
            if column is None:
                continue
            present = own.numbers[there, column].astype(np.float64)
            needed = defaults is None or defaults.get(name, 0.0) != 0.0
            written = ~np.isnan(present) | (values[rows] != 0.0) | needed
            result[NAMES[column]] = np.where(written, values[rows], present)
        return result

    return Change(channels, track, keys.frames, changed)


def _up_to_date(keys: TrackKeys) -> tuple[Channels, Track, TrackKeys]:
    """Return the keys with their current channels and track, ready for writing.

    Parameters implied by earlier edits are set first, because they would otherwise replace the new parameters later.
    """
    channels, track = writable(keys.datablock, keys.track)
    if are_implied(track, keys.own):
        (users,) = users_of_channels([channels])
        rebake(users, channels, [track], Options())
        (keys,) = found_again([keys])
        channels, track = writable(keys.datablock, keys.track)
    return channels, track, keys


def reset(keys: TrackKeys) -> None:
    """Remove the parameters of the keys. Raise AnimationError if the track can't be changed."""
    channels, track, keys = _up_to_date(keys)
    if track.enabled:
        write_numbers([Change(channels, track, keys.frames, _unset)])


def _unset(_index: int, _own: OwnKeys, there: BoolArray) -> dict[str, Numbers]:
    return dict.fromkeys(NAMES, np.full(there.sum(), np.nan))
