# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a reduction."""

from __future__ import annotations

from dataclasses import dataclass

from ...interp.fitting.reduction import Method
from ..arguments import Count, FrameRange, MoreThanTwo, Positive, check_fields
from ..store.table.options import SAMPLE_LIMIT
from .choices import ANGLE, ERROR, Together


@dataclass(frozen=True)
class Wanted:
    """An error, or a number of keys, and what else `reduce` takes."""

    error: Positive = ERROR
    angle: Positive = ANGLE
    key_count: Count | None = None
    still: Positive | None = None
    period: MoreThanTwo | None = None
    together: Together = "BONE"
    frame_range: FrameRange | None = None
    method: Method = "HERMITE"
    sample_limit: Count = SAMPLE_LIMIT

    def __post_init__(self) -> None:
        check_fields(self)
