# SPDX-License-Identifier: GPL-3.0-or-later
"""A range of frames in which the motion of an object violates a condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import Finding, as_dict
from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import BoolArray
from ..records import record
from ..translation import rpt_


@record()
class Violation:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the violation as a JSON-compatible dictionary."""
        return as_dict(self)

    def __str__(self) -> str:
        return str(self.finding)

    @property
    def place(self) -> str:
        """Return the frame or the frame range as text."""
        if self.end - self.start < SAME_FRAME:
            return rpt_("frame {:.6g}", self.start)
        return rpt_("frames {:.6g} to {:.6g}", self.start, self.end)


def runs(mask: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield the first and last rows of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    yield from ((int(first), int(end) - 1) for first, end in edges.reshape(-1, 2))
