# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a bake, and how they are stored with a track so that it can be baked the same way again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Literal, get_args

import numpy as np

from ....interp.fitting.curves import ROTATION_TOLERANCE
from ...arguments import Count, FrameRange, Parameters, Positive, check_fields
from ...records import record
from ...translation import n_, rpt_
from .rows import PARAMETERS

SAMPLE_LIMIT = 10_000_000
"""Samples in one bake, some 700 MB of keys: above it a bake is refused unless the limit is raised."""

Output = Literal["SAMPLES", "CURVES", "HANDLES"]
OUTPUTS: tuple[Output, ...] = get_args(Output)
Target = Literal["IN_PLACE", "NEW_ACTION"]


@record()
class Shown:
    """How the operator, the sidebar and the command show an option: its name, and what it is, untranslated."""

    name: str
    description: str
    choices: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Name and description of each value, where it has a few."""


def _as(name: str, description: str, choices: Mapping[str, tuple[str, str]] | None = None) -> dict[str, Shown]:
    """Return the metadata of a field that is shown so."""
    return {"shown": Shown(name, description, choices or {})}


@dataclass(frozen=True)
class Options:
    """The options of a bake.

    Attributes
    ----------
    target : "IN_PLACE" or "NEW_ACTION"
        IN_PLACE: beside the animator's keys. NEW_ACTION: plain keys in a copy of the action, which the object then
        uses.
    output : "SAMPLES", "CURVES" or "HANDLES"
        SAMPLES: linear keys every `step` frames. CURVES: the fewest Bezier keys that come within the tolerances.
        HANDLES: no generated keys; the handles of the animator's keys play the motion as closely as they can.
    step : float
        Frames from sample to sample; may be less than 1.
    frame_range : (float, float) or None
        The segments that this range touches; None: those between the first and the last key. Cycles are baked
        throughout the range.
    sample_limit : int
        A bake of more samples than this is refused.
    defaults : mapping of parameter name to float
        For keys that have no parameters of their own.
    value_tolerance : float or None
        Maximum error of curves, in the property's units; None: 1e-4 of the range of the track's keys.
    rotation_tolerance : float
        Maximum error of rotations, in radians.

    Raises
    ------
    TypeError, ValueError
        An option has a wrong type or an impossible value; the text names it.

    Examples
    --------
    >>> options = animation.Options(output="CURVES", value_tolerance=0.001, frame_range=(1, 20))
    >>> animation.bake_many([ball], options).tracks
    2
    >>> animation.Options(step=-1)
    Traceback (most recent call last):
    ValueError: step -1 is not a positive number
    """

    target: Target = field(
        default="IN_PLACE",
        metadata=_as(
            n_("Target"),
            n_("Where the baked keys go"),
            {
                "IN_PLACE": (n_("This Action"), n_("Generated keys beside yours, which Restore takes away again")),
                "NEW_ACTION": (
                    n_("New Action"),
                    n_("Plain keys in a copy of the action, for export; the object then plays the copy"),
                ),
            },
        ),
    )
    step: Positive = field(default=1.0, metadata=_as(n_("Step"), n_("Frames from sample to sample")))
    frame_range: FrameRange | None = None
    sample_limit: Count = field(
        default=SAMPLE_LIMIT, metadata=_as(n_("Sample Limit"), n_("Refuse to make more samples than this"))
    )
    defaults: Parameters = field(default_factory=dict)
    output: Output = field(
        default="SAMPLES",
        metadata=_as(
            n_("Output"),
            n_("What the baked curves are made of"),
            {
                "SAMPLES": (n_("Samples"), n_("A linear key every so many frames: what 3D Studio played")),
                "CURVES": (
                    n_("Curves"),
                    n_("The fewest Bezier keys that come within a tolerance; right between frames too"),
                ),
                "HANDLES": (n_("Handles"), n_("No keys but yours, whose handles play the motion as near as they can")),
            },
        ),
    )
    value_tolerance: Positive | None = field(
        default=None,
        metadata=_as(
            n_("Value Tolerance"),
            n_(
                "How near curves come to values, in the property's units; handles that are farther off are said to be "
                "approximate. 0: to 1/10 000 of the range of its keys"
            ),
        ),
    )
    rotation_tolerance: Positive = field(
        default=ROTATION_TOLERANCE,
        metadata=_as(
            n_("Rotation Tolerance"),
            n_("How near curves come to rotations; handles that are farther off are said to be approximate"),
        ),
    )

    def __post_init__(self) -> None:
        check_fields(self)

    def as_kept(self) -> Options:
        """Return the options as they are read back from a table, so that a bake and its repetition give the same."""
        kept = Options.from_numbers(self.numbers())
        if (kept.target, kept.sample_limit) == (self.target, self.sample_limit):
            return kept
        return replace(kept, target=self.target, sample_limit=self.sample_limit)

    def numbers(self) -> list[float]:
        """Return the numbers stored with a baked track, as float32."""
        return [*self._numbers]

    @cached_property
    def _numbers(self) -> tuple[float, ...]:
        start, end = self.frame_range or (0.0, 0.0)
        return (
            OUTPUTS.index(self.output),
            self.step,
            self.frame_range is not None,
            start,
            end,
            self.value_tolerance or 0.0,
            self.rotation_tolerance,
            *(self.defaults.get(name, 0.0) for name in PARAMETERS),
        )

    def is_as(self, chosen: Options) -> bool:
        """Return whether a track that was baked so is as `chosen` options ask; handles go by the defaults alone."""
        return self == chosen or (self.output == "HANDLES" and self.defaults == chosen.defaults)

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> Options:
        """Return the options for stored numbers; raise ValueError where `numbers` can't have written them."""
        return _from_numbers(tuple(numbers))


def shown(name: str) -> Shown:
    """Return how an option is shown."""
    found: Shown = next(each.metadata["shown"] for each in fields(Options) if each.name == name)
    return found


@lru_cache(maxsize=16)
def _from_numbers(numbers: tuple[float, ...]) -> Options:
    """Convert stored numbers, with a cache: most tracks have the same options, and each is read several times."""
    # The shortest decimal: 0.1 is read as 0.1, not as the float32 next to it.
    output, step, ranged, start, end, value, rotation, *defaults = (float(str(np.float32(n))) for n in numbers)
    if output not in range(len(OUTPUTS)):
        raise ValueError(rpt_("output {:g} is not known", output))
    return Options(
        output=OUTPUTS[int(output)],
        step=step,
        frame_range=(start, end) if ranged else None,
        defaults={name: number for name, number in zip(PARAMETERS, defaults, strict=True) if number},
        value_tolerance=value or None,
        rotation_tolerance=rotation,
    )


NUMBERS = len(Options().numbers())
