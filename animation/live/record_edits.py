# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording of edits of baked tracks that are not baked again at once.

Two edits can hide each other: comparing keys with what was written after each of them gives both, but a single
comparison after both may not. So in a window keys are compared whenever an edit ends; the result is written into the
keys and the table, and the next comparison starts from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import bpy
import numpy as np

from ..bake.notes import note_doubts
from ..bake.parameters_from_edits import with_implied
from ..bake.plans.protocol import OwnChannels
from ..fcurves.channels import Channels
from ..fcurves.frames import ONE_KEY, is_among
from ..fcurves.keyframes import Keyframes, merged, read, write
from ..report import Report
from ..store.digest import NEVER
from ..store.own_keys import OwnKeys, error_of_numbers, read_keys_to_write
from ..store.record_rows import Part, as_written, recorded
from ..store.table import identity
from ..store.table.custom_property import GENERATED as GENERATED_KEY
from ..store.table.custom_property import OWN, Channel, State, update
from ..store.table.rows import joined
from ..store.table.stamps import GENERATED, unstamped
from ..store.tracks import Track


def settle(channels: Channels, tracks: Sequence[Track]) -> Report:
    """Record edits of baked tracks in keys and table; the motion is not computed anew.

    Generated keys that became the animator's are made own keys, and own keys that were merged into generated ones are
    put back.
    """
    report = Report()
    every: list[OwnChannels] = []
    every_read = read_keys_to_write(tracks)
    # The next bake refuses keys that are not finite; the table can't hold them.
    sound = [error_of_numbers(track, own) is None for track, own in zip(tracks, every_read, strict=True)]
    tracks = list(compress(tracks, sound))
    for track, read_keys in zip(tracks, compress(every_read, sound), strict=True):
        options = track.settings.options
        own, notes = with_implied(track, read_keys, {} if options is None else options.defaults)
        every.append(own)
        report.notes += notes
    parts = [
        Part(track.state.identity, index, own, index in track.state.channels)
        for track, kept in zip(tracks, every, strict=True)
        if track.state is not None
        for index, own in kept.items()
    ]
    named, rows = recorded(parts)
    owns = iter(named)
    states = []
    for track, kept in zip(tracks, every, strict=True):
        if track.state is None:
            continue
        states.append(_settle(track, track.state, {index: next(owns) for index in kept}))
        note_doubts(report, track, kept.values())
    if states:
        update(channels.action, joined(rows), states)
    return report


def _settle(track: Track, state: State, kept: OwnChannels) -> State:
    channels = dict(state.channels)
    for index, fcurve in track.channels.items():
        before = channels.get(index)
        if before is None:
            continue
        if index not in kept:
            channels[index] = replace(before, own=np.empty(0, dtype=OWN), edited=before.rest is None)
            continue
        channels[index] = _settle_channel(fcurve, kept[index], before)
    settings = state.settings
    if any(_has_moved(state.channels[index], channel) for index, channel in channels.items()):
        settings = replace(settings, digest=NEVER)
    track.state = replace(state, slot=track.slot, path=track.path, settings=settings, channels=channels)
    return track.state


def _has_moved(before: Channel, now: Channel) -> bool:
    """Return whether the generated keys differ from those that the bake has written."""
    return before.generated.tobytes() != now.generated.tobytes()


def _settle_channel(fcurve: bpy.types.FCurve, own: OwnKeys, before: Channel) -> Channel:
    keys = read(fcurve)
    there = own.rows >= 0
    mine = np.zeros(len(keys), dtype=np.bool_)
    mine[own.rows[there]] = True
    curve = _as_on_curve(keys, own, before)
    # A generated key that Blender would merge with an own key is removed, and one that is not finite.
    near = is_among(keys.frames, curve.frames, ONE_KEY)
    generated = keys.take(~mine & ~near & np.isfinite(keys.co).all(axis=1))
    generated = generated.with_(
        period=generated.frames.copy(),
        back=generated.values.copy(),
        amplitude=np.full(len(generated), GENERATED, dtype=np.float32),
    )
    write(fcurve, merged(curve, generated))
    noted = np.ascontiguousarray(generated.co).view(GENERATED_KEY).ravel()
    (written,) = as_written(curve.arrays, own, own.placed[np.newaxis])
    return replace(before, edited=own.edited, own=written, generated=noted)


def _as_on_curve(keys: Keyframes, own: OwnKeys, before: Channel) -> Keyframes:
    """Return the own keys as they are on the baked curve, with identities, and with merged ones put back."""
    there = own.rows >= 0
    curve = own.keys.copy()
    present = unstamped(keys.take(own.rows[there]))
    for name in ("interpolation", "handle_left_type", "handle_right_type", "type", "back", "amplitude", "period"):
        getattr(curve, name)[there] = getattr(present, name)
    curve.interpolation[~there] = keys.interpolation[0]
    for side in ("handle_left", "handle_right"):
        # When Blender merges keys, it changes only their values.
        getattr(curve, side)[there] = getattr(present, side)
        getattr(curve, f"{side}_type")[~there] = keys.handle_left_type[0]
    if (before.own["value"] != before.own["co"][:, 1]).any():
        # The curve shows other values than the keys' own.
        curve.co[there] = present.co
    return identity.with_identities(curve, own.identities, curve.interpolation)
