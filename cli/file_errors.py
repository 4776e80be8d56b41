# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of files that cannot be used."""

from __future__ import annotations

from ..animation import AnimationError, Finding


def unusable(code: str, *arguments: object) -> AnimationError:
    """Return the error for a file or a target that cannot be used."""
    return AnimationError(Finding(code, arguments=tuple(map(str, arguments))))


def reports_in(error: RuntimeError) -> str:
    """Return Blender's reports as one line."""
    return "; ".join(line.removeprefix("Error: ") for line in str(error).strip().splitlines() if line)
