# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write entire files, with errors that name the file."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

import bpy

from ..animation.translation import rpt_


def path_of(filepath: str) -> Path:
    """Return the absolute path of an operator's file path, which may be relative to the .blend file (`//run.csv`)."""
    return Path(bpy.path.abspath(filepath))


def read_file(path: Path) -> bytes:
    """Return the content of a file.

    Raises an OSError that names the file. The system's error, with its number, is the cause.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise OSError(rpt_("{} cannot be read: {}", path, error.strerror)) from error


def write_file(path: Path, content: bytes) -> None:
    """Write a file in one step. An existing file is kept until the new one is complete.

    The new file has default permissions, and replaces a symbolic link instead of its target. Raises an OSError that
    names the file, whose cause is the system's error with its number, or an OSError if the path has no file name.
    """
    if not path.name:
        raise OSError(rpt_("No file name. Enter one and export again"))
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        raise OSError(rpt_("{} cannot be written: {}", path, error.strerror)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
