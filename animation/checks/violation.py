# SPDX-License-Identifier: GPL-3.0-or-later
"""A range of frames in which the motion of an object violates a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..fcurves.keyframes import SAME_FRAME, BoolArray
from ..records import record
from ..report import Finding, JsonResult
from ..sampling.properties import PropertySampler, Values
from ..text import rpt_


@record()
class Violation(JsonResult):
    """A range of frames in which a condition is violated."""

    name: str
    """The name of the object."""
    track: str
    """The path of the property, or of the constraint."""
    condition: str
    """CLIP, LENS, FOCUS, VIEW or SCALE."""
    start: float
    end: float
    worst: float
    """The frame of the worst violation."""
    message: str
    """The description of the violation."""

    @property
    def finding(self) -> Finding:
        """Return the violation as a finding at the violation's worst frame."""
        return Finding("VIOLATION", self.name, self.track, self.worst, (self.message, self.place))

    def __str__(self) -> str:
        return str(self.finding)

    @property
    def place(self) -> str:
        """Return the frame or the frame range as text."""
        if self.end - self.start < SAME_FRAME:
            return rpt_("frame {:.6g}", self.start)
        return rpt_("frames {:.6g} to {:.6g}", self.start, self.end)


def violations(
    sampler: PropertySampler,
    track: str,
    condition: str,
    is_violated: BoolArray,
    excess: Values,
    message: Callable[[int], str],
) -> Iterator[Violation]:
    """Yield a violation for each run of violating samples. The worst sample of a run has the largest `excess`.

    `message` returns the description for the row of the worst sample.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_violated, [False])).astype(np.int8)))
    for first, end in edges.reshape(-1, 2).tolist():
        worst = first + int(np.argmax(excess[first:end]))
        start, last, worst_frame = sampler.frames[[first, end - 1, worst]].tolist()
        yield Violation(sampler.item.name, track, condition, start, last, worst_frame, message(worst))
