# SPDX-License-Identifier: GPL-3.0-or-later
"""The limit on the number of samples of a file."""

from __future__ import annotations

from ...animation import AnimationError
from ...animation.errors import Finding

_MAX_EVALUATED_FRAMES = 1_000_000
"""Maximum number of frames for evaluating a motion to find its keys, independent of the sample limit."""


class SampleLimit:
    """The number of samples of a file so far, which must not exceed a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0

    def take(self, count: int, name: str, path: str = "") -> None:
        """Count samples for a track. Raise AnimationError if the limit is exceeded."""
        self._count += count
        if self._count > self._limit:
            raise AnimationError(Finding("FILE_SAMPLE_LIMIT", name, path, arguments=(count, self._limit)))

    def check(self, frames: float, name: str, path: str = "") -> None:
        """Raise AnimationError if finding the keys of a track requires evaluating too many frames."""
        limit = max(self._limit, _MAX_EVALUATED_FRAMES)
        if frames > limit:
            raise AnimationError(Finding("FILE_KEYS_FAR_APART", name, path, arguments=(float(frames), limit)))
