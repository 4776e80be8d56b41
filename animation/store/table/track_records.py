# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of a TCB track in the table: settings, bake options, and the animator's keys with placed handles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ....interp.base_spline import Cycle
from ....interp.splines import tcb
from ....interp.tcb_tangents import Ends
from ...arguments import Count, FrameRange, Parameters, Positive, check_fields
from ...options import BAKE, TRACK
from ...records import record
from ...text import rpt_
from .rows import PARAMETERS

Output = Literal["SAMPLES", "CURVES", "HANDLES"]
TurnPath = Literal["SHORTEST", "AS_KEYED", "ONE_AXIS"]


@dataclass(frozen=True)
class Options:
    """The options of a bake.

    Attributes
    ----------
    output : "SAMPLES", "CURVES" or "HANDLES"
        SAMPLES writes linear keys every `step` frames. CURVES writes the fewest Bezier keys within the tolerances,
        except for tracks with a frame function, which are baked as samples. HANDLES generates no keys. The handles of
        the animator's keys approximate the motion.
    step : float
        Interval between samples in frames, which may be less than 1.
    extend : (float, float) or None
        First and last frames of a range that extends the bake beyond the keys, for cycles and linear extrapolation. If
        None, the bake extends from the first to the last key.
    sample_limit : int
        Maximum number of samples. If more samples would be needed, nothing is baked.
    defaults : mapping of parameter name to float
        Parameters of keys that have none of their own.
    value_tolerance : float or None
        Maximum error of curves in the property's units. If None, 1e-4 of the range of the track's keys is used.
    rotation_tolerance : float
        Maximum error in rotations, in radians.
    in_world : bool
        True if locations and rotations are interpolated in world space, as set by `bake_in_world`.

    Raises
    ------
    TypeError, ValueError
        An option has the wrong type or an invalid value. The error message names the option.

    Examples
    --------
    >>> options = animation.Options(output="CURVES", value_tolerance=0.001, extend=(1, 100))
    >>> animation.bake_many([ball], options).tracks
    2
    >>> animation.Options(step=-1)
    Traceback (most recent call last):
    ValueError: step -1 is not a positive number
    """

    step: Positive = BAKE["step"].default
    extend: FrameRange | None = None
    sample_limit: Count = BAKE["sample_limit"].default
    defaults: Parameters = field(default_factory=dict)
    output: Output = BAKE["output"].default
    value_tolerance: Positive | None = BAKE["value_tolerance"].default
    rotation_tolerance: Positive = BAKE["rotation_tolerance"].default
    in_world: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def as_kept(self) -> Options:
        """Return the options with the precision of Blender's fields, so that 0.1 in a field is 0.1."""
        defaults = {name: _rounded(self.defaults.get(name, 0.0)) for name in PARAMETERS}
        return replace(
            self,
            step=_rounded(self.step),
            extend=self.extend and (_rounded(self.extend[0]), _rounded(self.extend[1])),
            defaults={name: number for name, number in defaults.items() if number},
            value_tolerance=self.value_tolerance and _rounded(self.value_tolerance),
            rotation_tolerance=_rounded(self.rotation_tolerance),
        )

    @cached_property
    def text(self) -> str:
        """Return the options stored with a baked track as JSON."""
        names = (option.name for option in fields(self) if option.name != "sample_limit")
        return json.dumps({name: getattr(self, name) for name in names})

    def is_as(self, chosen: Options) -> bool:
        """Return whether a track baked with these options conforms to `chosen`. For handles, only defaults matter."""
        return replace(self, in_world=False) == chosen or (
            self.output == "HANDLES" and self.defaults == chosen.defaults
        )


def _rounded(number: float) -> float:
    """Return the shortest decimal of a float32."""
    return float(str(np.float32(number)))


@lru_cache(maxsize=16)
def from_text(text: str | None) -> Options | None:
    """Convert stored options with a cache, because most tracks have the same options and each is read several times.

    Raise TypeError or ValueError if the options are invalid.
    """
    if text is None:
        return None
    stored = json.loads(text)
    return Options(**stored | {"extend": stored["extend"] and tuple(stored["extend"])})


CHOICES: dict[str, tuple[str, ...]] = {name: tuple(option.choices) for name, option in TRACK.items()}
"""The options of each choice, by the names of the fields of Settings."""


@record()
class Settings:
    """The settings of one track.

    `method` is a name in `METHODS`. For rotation methods that interpolate angles, `angles` is the method for the
    angles.
    """

    cycle: Cycle = TRACK["cycle"].default
    ends: Ends = TRACK["ends"].default
    construction: tcb.Construction = TRACK["construction"].default
    path: TurnPath = TRACK["path"].default
    method: str = TRACK["method"].default
    angles: str = TRACK["angles"].default
    digest: int = 0
    """Digest of the input of the last bake (0: never baked)."""
    options: Options | None = None
    """Options of the last bake."""

    def with_choices(self, choices: Mapping[str, str]) -> Settings:
        """Return the settings with these choices. Raise ValueError if a choice or an option does not exist."""
        for choice, option in choices.items():
            if choice not in CHOICES:
                raise ValueError(rpt_("{!r} is not one of {:s}", choice, ", ".join(CHOICES)))
            if option not in CHOICES[choice]:
                raise ValueError(rpt_("{:s} {!r} is not one of {:s}", choice, option, ", ".join(CHOICES[choice])))
        return replace(self, **choices)  # type: ignore[arg-type]


choices_of = attrgetter(*CHOICES)
"""Return the choices of Settings, in the order of CHOICES."""
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
which may have an equivalent value for the same orientation. `placed` contains the following flags."""
LEFT_PLACED, RIGHT_PLACED = 1, 2
"""The handle was placed, and plays the motion between keys."""
BEYOND = 2
"""Left shift of these two flags for handles placed before the first key or after the last key."""
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
    """The contents of a baked channel, as far as they affect playback. See `store/up_to_date.py`."""

    count: int
    """Number of keys."""
    extrapolation: Extrapolation
    values: int
    """Checksum of the values, including handles of Bezier segments."""
    attributes: int
    """Checksum of the interpolation, the easing and the identities."""
    frames: npt.NDArray[np.float32]
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
