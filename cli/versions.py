# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of files, which change when another process writes the files."""

from __future__ import annotations

import os
from pathlib import Path

Version = tuple[int, int]
"""Time and size of a file, which change when another process writes the file."""


def version_of(path: str | Path) -> Version | None:
    """Return the version of a file, or None if it does not exist."""
    try:
        return version_of_status(os.stat(path))
    except OSError:
        return None


def version_of_status(status: os.stat_result) -> Version:
    return status.st_mtime_ns, status.st_size
