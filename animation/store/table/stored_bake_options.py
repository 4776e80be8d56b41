# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a bake, which are stored with the track so that the bake can be repeated."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from ...arguments import Count, FrameRange, Parameters, Positive, check_fields
from ...options import BAKE
from .rows import PARAMETERS

Output = Literal["SAMPLES", "CURVES", "HANDLES"]


@dataclass(frozen=True)
class Options:
    """The options of a bake.

    Attributes
    ----------
    output : "SAMPLES", "CURVES" or "HANDLES"
        SAMPLES writes linear keys every `step` frames. CURVES writes the fewest Bezier keys within the tolerances.
        HANDLES generates no keys. The handles of the animator's keys approximate the motion.
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
