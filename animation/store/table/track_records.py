# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a TCB track: settings, the animator's keys with placed handles, and the bake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ...records import record
from .settings import Settings
from .stored_bake_options import Options

OWN = np.dtype(
    [
        ("identity", "<u4"),
        ("co", "<f4", (2,)),
        ("value", "<f4"),
        ("handle_left", "<f4", (2,)),
        ("handle_right", "<f4", (2,)),
        ("interpolation", "u1"),
        ("handle_left_type", "u1"),
        ("handle_right_type", "u1"),
        ("placed", "u1"),
    ]
)
"""One of the animator's keys with placed handles. `value` is the animator's value. `co` is the position on the curve,
which may have an equivalent value for the same orientation. `placed` contains flags of placed handles: 1 left, 2 right,
4 and 8 outside all keys, and NEGATED and COUPLED."""
NEGATED = np.uint8(16)
"""The value on the curve is the negated value or, for an angle, a multiple of pi minus the value."""
COUPLED = np.uint8(32)
"""The key on the curves has the negated quaternion or axis, or the other Euler solution, in all channels together."""
WRITTEN = ("co", "handle_left", "handle_right", "interpolation", "handle_left_type", "handle_right_type")
"""Fields of OWN that a key on the curve has as well."""
SAVED = np.dtype(
    [
        ("co", "<f4", (2,)),
        ("handle_left", "<f4", (2,)),
        ("handle_right", "<f4", (2,)),
        ("back", "<f4"),
        ("amplitude", "<f4"),
        ("period", "<f4"),
        ("handle_left_type", "u1"),
        ("handle_right_type", "u1"),
        ("interpolation", "u1"),
        ("easing", "u1"),
        ("type", "u1"),
        ("flags", "u1"),
        ("unused", "u1", (2,)),
    ]
)
"""One of the animator's keys on a baked track, with all attributes. `flags` contains one bit per selection flag."""
Extrapolation = Literal["CONSTANT", "LINEAR"]
EXTRAPOLATIONS = get_args(Extrapolation)
Written = npt.NDArray[np.void]
"""Records of dtype OWN, ordered by frame."""
SavedKeys = npt.NDArray[np.void]
"""Records of dtype SAVED, ordered by frame."""
Places = npt.NDArray[np.float32]


@record(eq=False)
class Channel:
    """The animator's keys in a channel, as they were when their handles were placed."""

    extrapolation: Extrapolation
    edited: bool
    """True if keys were added, deleted or moved since they were recorded, so that Blender must update automatic
    handles."""
    own: Written


@record(eq=False)
class Fingerprint:
    """The contents of a baked channel, as far as they affect playback. See `store/edited_outside.py`."""

    count: int
    """Number of keys."""
    extrapolation: Extrapolation
    values: int
    """Checksum of the values, including handles of Bezier segments."""
    attributes: int
    """Checksum of the interpolation and the identities."""
    places: Places
    """Frames of the keys, and of the left and right handles of Bezier segments."""


@record(eq=False)
class BakedChannel:
    """A channel of a baked track: the animator's keys, which Free Bake restores, and the content that was written."""

    keys: SavedKeys
    """The animator's keys with all attributes. Empty if the bake created the F-curve."""
    extrapolation: Extrapolation
    """The animator's extrapolation."""
    rest: float | None
    """Value of the property before a bake created the F-curve. If None, the animator created the F-curve."""
    repeats: bool
    """True if our Cycles modifier repeats the animator's keys."""
    written: Fingerprint
    edited: bool = False
    """True if keys were added, deleted or moved during the bake, so that Blender must update automatic handles."""


@record(eq=False)
class Bake:
    """The bake of a track."""

    channels: Mapping[int, BakedChannel]
    """Baked channels by index."""
    digest: int
    """Digest of the state to which Free Bake returns."""
    options: Options | None
    """Options of the state to which Free Bake returns, if handles play the track in that state. If None, the track is
    off."""


@record()
class Error:
    """The maximum error of the F-curves that play a track."""

    size: float
    """The error in the property's units, or in radians for rotations."""
    frame: float
    """Frame of the maximum error, or NaN if there was nothing to play."""
    is_approximate: bool
    """True if the error exceeds the tolerance."""


@record(eq=False)
class TrackState:
    """A TCB track: its settings, and its playback data."""

    identity: int
    slot: int
    path: str
    settings: Settings = field(default_factory=Settings)
    channels: Mapping[int, Channel] = field(default_factory=dict)
    """Channels with placed handles, by index. For a baked track, the records are from before the bake. Empty if handles
    don't play the track, or if keys have changed during the bake."""
    error: Error | None = None
    """Maximum error of handles. If None, handles don't play the track."""
    bake: Bake | None = None
    """The bake. If None, the track is not baked."""
