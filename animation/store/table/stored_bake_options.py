# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a bake, which are stored with the track so that the bake can be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal, get_args

import numpy as np

from ...arguments import Count, FrameRange, Parameters, Positive, check_fields
from ...options import BAKE
from ...translation import rpt_
from .rows import PARAMETERS

Output = Literal["SAMPLES", "CURVES", "HANDLES"]
OUTPUTS: tuple[Output, ...] = get_args(Output)


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
        """Return the options with their stored precision, so that a repeated bake gives the same result."""
        kept = Options.from_numbers(self.numbers())
        return kept if kept.sample_limit == self.sample_limit else replace(kept, sample_limit=self.sample_limit)

    def numbers(self) -> list[float]:
        """Return the numbers stored with a baked track, as float32."""
        return [*self._numbers]

    @cached_property
    def _numbers(self) -> tuple[float, ...]:
        start, end = self.extend or (0.0, 0.0)
        return (
            OUTPUTS.index(self.output),
            self.step,
            self.extend is not None,
            start,
            end,
            self.value_tolerance or 0.0,
            self.rotation_tolerance,
            self.in_world,
            *(self.defaults.get(name, 0.0) for name in PARAMETERS),
        )

    def is_as(self, chosen: Options) -> bool:
        """Return whether a track baked with these options conforms to `chosen`. For handles, only defaults matter."""
        return replace(self, in_world=False) == chosen or (
            self.output == "HANDLES" and self.defaults == chosen.defaults
        )

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> Options:
        """Return the options for stored numbers. Raise ValueError if `numbers` is invalid."""
        return _from_numbers(tuple(numbers))


@lru_cache(maxsize=16)
def _from_numbers(numbers: tuple[float, ...]) -> Options:
    """Convert stored numbers with a cache, because most tracks have the same options and each is read several times."""
    # Use the shortest decimal, so that 0.1 becomes 0.1 and not the nearest float32.
    shortest = (float(str(np.float32(number))) for number in numbers)
    output, step, extended, start, end, value, rotation, in_world, *defaults = shortest
    if output not in range(len(OUTPUTS)):
        raise ValueError(rpt_("unknown output {:g}", output))
    return Options(
        output=OUTPUTS[int(output)],
        step=step,
        extend=(start, end) if extended else None,
        defaults={name: number for name, number in zip(PARAMETERS, defaults, strict=True) if number},
        value_tolerance=value or None,
        rotation_tolerance=rotation,
        in_world=bool(in_world),
    )


NUMBERS = len(Options().numbers())
