# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of the animator's keys as they were written with placed handles (dtype OWN)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fcurves.keyframes import FLAGS, EnumArray, Keyframes
from .own_arrays import OwnKeys
from .table import key_identity
from .table.key_identity import Identities
from .table.rows import RECORDED
from .table.session import session
from .table.track_records import OWN, WRITTEN, Channel, Written


def as_written(keys: Keyframes, own: OwnKeys, placed: EnumArray) -> Written:
    """Return records of the animator's keys as they are written, n per channel, shape (channels, n).

    `placed` contains the flags of placed handles, shape (channels, n).
    """
    written = np.empty(placed.shape, dtype=OWN)
    written["identity"] = own.identities.reshape(written.shape)
    written["value"] = own.keys.values.reshape(written.shape)
    written["placed"] = placed
    for name in WRITTEN:
        written[name] = getattr(keys, name).reshape(written[name].shape)
    return written


def written_of(identities: Identities, channel: Channel | None) -> Written:
    """Return a channel's keys as they were written, in the order of the identities.

    Keys that were not written into this channel have NaN frames.
    """
    if channel is not None and identities.tobytes() == channel.own["identity"].tobytes():
        return channel.own
    result = np.zeros(len(identities), dtype=OWN)
    result["co"] = np.nan
    if channel is None or not len(channel.own):
        return result
    written = channel.own
    order = np.argsort(written["identity"], kind="stable")
    place = np.minimum(np.searchsorted(written["identity"][order], identities), len(written) - 1)
    candidates = written[order[place]]
    was_written = candidates["identity"] == identities
    result[was_written] = candidates[was_written]
    return result


def recorded_keys(written: Written) -> Keyframes:
    """Return the written keys, unselected, as they would be without TCB, based only on their rows."""
    at = session.rows.find(written["identity"])
    rows = session.rows[at[at >= 0]]
    arrays: dict[str, Any] = {name: np.ascontiguousarray(rows[name]) for name in RECORDED}
    flags: dict[str, Any] = dict.fromkeys(FLAGS, np.zeros(len(rows), dtype=np.bool_))
    recorded = Keyframes(**arrays, **flags)
    return key_identity.with_identities(recorded, np.ascontiguousarray(written["identity"][at >= 0]))
