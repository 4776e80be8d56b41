# SPDX-License-Identifier: GPL-3.0-or-later
"""How to bake: what is asked for, and what is kept with a track so that it can be baked the same way again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from ...interp.fitting import ROTATION_TOLERANCE
from ...words import rpt_
from .rows import PARAMETERS

SAMPLE_LIMIT = 10_000_000
"""Samples in one bake, some 700 MB of keys: above it a bake is refused unless the limit is raised."""

OUTPUTS = ("SAMPLES", "CURVES", "HANDLES")
TARGETS = ("IN_PLACE", "NEW_ACTION")


@dataclass(frozen=True)
class Options:
    """How to bake.

    Attributes
    ----------
    target : "IN_PLACE" or "NEW_ACTION"
        Beside the animator's keys, or as plain keys into a copy of the action, which the object then uses.
    output : "SAMPLES", "CURVES" or "HANDLES"
        Linear keys every `step` frames, or the fewest Bezier keys that come within the tolerances; or no generated
        keys, and the handles of the animator's own with which they come as near as they can.
    step : float
        Frames from sample to sample; below 1 too.
    frame_range : (float, float) or None
        The segments that this range touches; None: those between the first and the last key. Cycles go on as far as
        the range does.
    sample_limit : int
        More samples than this are refused.
    defaults : mapping of parameter name to float
        For keys that have no parameters of their own.
    value_tolerance : float or None
        How near curves come to values, in the property's units; None: 1e-4 of the range of the track's keys.
    rotation_tolerance : float
        How near curves come to rotations, radians.
    """

    target: str = "IN_PLACE"
    step: float = 1.0
    frame_range: tuple[float, float] | None = None
    sample_limit: int = SAMPLE_LIMIT
    defaults: Mapping[str, float] = field(default_factory=dict)
    output: str = "SAMPLES"
    value_tolerance: float | None = None
    rotation_tolerance: float = ROTATION_TOLERANCE

    def check(self) -> None:
        """Raises ValueError, naming the option at fault."""
        if self.target not in TARGETS:
            raise ValueError(rpt_("target {!r} is neither IN_PLACE nor NEW_ACTION", self.target))
        if self.output not in OUTPUTS:
            raise ValueError(rpt_("output {!r} is none of {:s}", self.output, ", ".join(OUTPUTS)))
        if self.value_tolerance is not None and not _is_positive(self.value_tolerance):
            raise ValueError(rpt_("value tolerance {:g} is not a positive number", self.value_tolerance))
        if not _is_positive(self.rotation_tolerance):
            raise ValueError(rpt_("rotation tolerance {:g} is not a positive number", self.rotation_tolerance))
        unknown = [name for name in self.defaults if name not in PARAMETERS]
        if unknown:
            known = ", ".join(PARAMETERS)
            raise ValueError(rpt_("default {!r} is none of {:s}", unknown[0], known))
        if not _is_positive(self.step):
            raise ValueError(rpt_("step {:g} is not a positive number of frames", self.step))
        if self.frame_range is not None:
            start, end = self.frame_range
            if not (math.isfinite(start) and math.isfinite(end) and start <= end):
                raise ValueError(rpt_("the frame range {:g} to {:g} is empty", start, end))

    def as_kept(self) -> Options:
        """The same as it comes back from what is kept, so that a bake and its repetition are one."""
        kept = Options.from_numbers(self.numbers())
        return replace(kept, target=self.target, sample_limit=self.sample_limit)

    def numbers(self) -> list[float]:
        """What is kept with a baked track, in float32."""
        start, end = self.frame_range or (0.0, 0.0)
        return [
            OUTPUTS.index(self.output),
            self.step,
            self.frame_range is not None,
            start,
            end,
            self.value_tolerance or 0.0,
            self.rotation_tolerance,
            *(self.defaults.get(name, 0.0) for name in PARAMETERS),
        ]

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> Options:
        """Raises ValueError where these are not what `numbers` gives."""
        return _from_numbers(tuple(numbers))


def _is_positive(number: float) -> bool:
    return math.isfinite(number) and number > 0.0


@lru_cache(maxsize=16)
def _from_numbers(numbers: tuple[float, ...]) -> Options:
    """Most tracks are baked alike, and each is asked several times."""
    # The shortest decimal: 0.1 comes back as 0.1, not as the float32 next to it.
    output, step, ranged, start, end, value, rotation, *defaults = (float(str(np.float32(n))) for n in numbers)
    if output not in range(len(OUTPUTS)):
        raise ValueError(rpt_("output {:g} is not known", output))
    options = Options(
        output=OUTPUTS[int(output)],
        step=step,
        frame_range=(start, end) if ranged else None,
        defaults={name: number for name, number in zip(PARAMETERS, defaults, strict=True) if number},
        value_tolerance=value or None,
        rotation_tolerance=rotation,
    )
    options.check()
    return options


NUMBERS = len(Options().numbers())
