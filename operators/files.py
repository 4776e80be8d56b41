# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading and writing whole files; errors name the file."""

from __future__ import annotations

import secrets
from pathlib import Path

import bpy

from ..animation.translation import rpt_


def path_of(filepath: str) -> Path:
    """Return the path that an operator got, which may start at the .blend file's folder: `//run.csv`."""
    return Path(bpy.path.abspath(filepath))


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises OSError, whose text names the file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise OSError(rpt_("{} can't be read: {}", path, error.strerror)) from error


def write_file(path: Path, content: bytes) -> None:
    """Write a file in one step: what was there before stays until all of it is written.

    Raises OSError, whose text names the file.
    """
    if not path.name:
        raise OSError(rpt_("{} can't be written: it is not a file name", path))
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            part.write_bytes(content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(rpt_("{} can't be written: {}", path, error.strerror)) from error
