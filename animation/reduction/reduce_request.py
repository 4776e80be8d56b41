# SPDX-License-Identifier: GPL-3.0-or-later
"""The requirements for a reduction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...interp.fitting.reduction import Method
from ..arguments import Count, FrameRange, MoreThanTwo, Positive, check_fields
from ..options import REDUCE

Together = Literal["TRACK", "BONE", "COLLECTION", "POSE"]
"""The groups of channels that get keys at common frames."""


@dataclass(frozen=True)
class ReduceRequest:
    """The maximum error or number of keys, and the other arguments of `reduce`."""

    error: Positive = REDUCE["error"].default
    angle: Positive = REDUCE["angle"].default
    key_count: Count | None = None
    still: Positive | None = None
    period: MoreThanTwo | None = None
    together: Together = REDUCE["together"].default
    frame_range: FrameRange | None = None
    method: Method = REDUCE["method"].default
    sample_limit: Count = REDUCE["sample_limit"].default

    def __post_init__(self) -> None:
        check_fields(self)
