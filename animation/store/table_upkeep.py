# SPDX-License-Identifier: GPL-3.0-or-later
"""Upkeep of the table of an action, and its Live property.

`ui/live/switch.py` registers the property. In scripts that import only `animation`, no action is live.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..datablocks import HAS_SLOTS, users_of
from ..fcurves.channels import channels_in, channels_of, layered_reason
from ..fcurves.keyframes import Float32Array
from ..fcurves.read_and_write import KeyBlock
from ..report import AnimationError, Finding
from .find_tracks import find_tracks
from .table import key_identity
from .table import rows as rows_
from .table.custom_property import Table, read_table, update
from .table.custom_property import write as write_table
from .table.key_identity import Identities
from .table.rows import Rows, joined
from .table.session import session
from .table.track_records import OWN, SAVED
from .up_to_date import RESTORED


def is_live(action: bpy.types.Action) -> bool:
    """Return whether the action is updated automatically after every edit."""
    return bool(getattr(action, "tcb_live", False))


def switch_on(action: Any) -> None:
    """Turn Live on for the action, if the property is registered."""
    if hasattr(action, "tcb_live"):
        action.tcb_live = True


def switch_off(action: Any) -> list[Finding]:
    """Turn Live off for the action. Return a note if Live was on."""
    was_live = is_live(action)
    if was_live:
        action.tcb_live = False
    if hasattr(action, "tcb_live"):
        # An action that was never live does not have the property. A stored value of 0 would be exported.
        action.property_unset("tcb_live")
    return [Finding("LIVE_OFF", arguments=(action.name,))] if was_live else []


# Tracks from other actions, unused rows, and restored tracks


def adopt_tracks(action: bpy.types.Action) -> None:
    """Add an entry to the action's table for each TCB track that was moved into the action with its slot."""
    table = read_table(action)
    if table.error or _tracks_of_keys(action) <= table.tracks.keys():
        return
    states = {}
    for datablock in users_of(action):
        with suppress(AnimationError):
            for track in find_tracks(datablock, channels_of(datablock)):
                if track.state is not None and (track.slot, track.path) not in table.identity_of:
                    states[track.slot, track.path] = track.state
    if states:
        update(action, states=states.values())


def tracks_of_removed_slots(action: bpy.types.Action) -> list[int]:
    """Return the identities of tracks in the table whose slot was removed and whose keys are not in another slot."""
    table = read_table(action)
    if not HAS_SLOTS or table.error:
        return []
    handles = {slot.handle for slot in action.slots}
    identities = {track.identity for track in table.tracks.values() if track.slot not in handles}
    # The slot may have been moved to another action in which its tracks have not been found yet.
    for other in bpy.data.actions if identities else ():
        identities -= _tracks_of_keys(other) - read_table(other).tracks.keys()
    return list(identities)


def _tracks_of_keys(action: bpy.types.Action) -> set[int]:
    """Return the identities of the tracks for which the rows of the action's keys were created."""
    at = session.rows.find(_identities_in(action))
    return set(session.rows["track"][at[at >= 0]].tolist())


def clear_orphans(action: bpy.types.Action) -> None:
    """Remove unused rows from the action's table. The session still remembers these rows.

    Rows of keys from other actions are added. Damaged tables, and tables of actions with several layers, are not
    changed.
    """
    table = read_table(action)
    if table.error or not (len(table.rows) or table.tracks) or layered_reason(action):
        return
    with suppress(ValueError):
        used_rows = _rows_in_use(action, table)
        if used_rows.tobytes() != table.rows.tobytes():
            write_table(action, table, replace(table, rows=used_rows))


def _rows_in_use(action: bpy.types.Action, table: Table) -> Rows:
    """Return the session's rows that are referenced by keys of the action, or by saved keys or records in the table.

    Raise ValueError if a track is damaged.
    """
    states = [track.state for track in table.tracks.values()]
    bakes = [state.bake for state in states if state.bake is not None]
    saved = joined([channel.keys for bake in bakes for channel in bake.channels.values()], SAVED)
    own = joined([channel.own for state in states for channel in state.channels.values()], OWN)
    saved_identities = key_identity.identities_in(saved["amplitude"], saved["period"])
    identities = np.concatenate((_identities_in(action), saved_identities))
    at = session.rows.find(np.unique(np.concatenate((identities, own["identity"]))))
    # If a key uses its amplitude and period, only `back` identifies it.
    codes = key_identity.codes_in(np.concatenate((_floats_of(action, "back"), saved["back"])))
    codes = np.unique(codes[(session.rows.find(identities) < 0) & key_identity.are_valid_codes(codes)])
    has_code = np.isin(key_identity.codes_for(table.rows["identity"]), codes)
    return rows_.merge(session.rows[at[at >= 0]], table.rows[has_code])


def _identities_in(action: bpy.types.Action) -> Identities:
    """Read the identities from all keys of the action, even if there are no matching rows."""
    return key_identity.identities_in(_floats_of(action, "amplitude"), _floats_of(action, "period"))


def _floats_of(action: bpy.types.Action, name: str) -> Float32Array:
    """Read this float attribute of all keys in the action."""
    collections = [fcurve.keyframe_points for channels in channels_in(action) for fcurve in channels]
    floats: Float32Array = KeyBlock(collections).read(name)
    return floats


def play_restored(action: bpy.types.Action) -> None:
    """Include restored tracks in Live again."""
    table = read_table(action)
    if table.error:
        return
    states = []
    for track in table.tracks.values():
        with suppress(ValueError):
            state = track.state
            if state.settings.digest == RESTORED:
                states.append(replace(state, settings=replace(state.settings, digest=0)))
    if states:
        update(action, states=states)
