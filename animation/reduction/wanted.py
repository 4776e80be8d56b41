# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a reduction."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..arguments import Count, MoreThanTwo, Positive, check_fields

ERROR = 0.005
"""Units: half a centimetre in metres."""
ANGLE = math.radians(0.5)


@dataclass(frozen=True)
class Wanted:
    """An error, or a number of keys, and what else `reduce` takes."""

    error: Positive = ERROR
    angle: Positive = ANGLE
    key_count: Count | None = None
    still: Positive | None = None
    period: MoreThanTwo | None = None

    def __post_init__(self) -> None:
        check_fields(self)
