# SPDX-License-Identifier: GPL-3.0-or-later
"""Open .blend files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy

from ..animation import Finding, Report
from ..animation.store.table.session import session
from .file_errors import reports_in, unusable
from .versions import Version, version_of, version_of_status

_IS_COMPRESSED = {b"BLENDER": False, b"\x28\xb5\x2f\xfd": True, b"\x1f\x8b": True}
"""First bytes of .blend files, uncompressed or compressed by Zstandard or gzip, and whether they are compressed."""


@dataclass(frozen=True)
class Source:
    """A file that was read."""

    is_compressed: bool
    version: Version
    libraries: dict[str, Version | None]
    """The libraries that the file links from. A missing library is None."""
    converted: Finding | None = None
    """A note if the file will be written and was saved by another Blender version."""


def open_file(file: Path, report: Report, writes: bool) -> Source:
    """Open a file in Blender without running any scripts in it. Raises AnimationError.

    A missing library is an error in the report, because its datablocks are missing from the result.
    """
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise unusable("FILE_NOT_A_FILE")
        is_compressed = _is_compressed(file)
    except OSError as error:
        raise unusable("FILE_NOT_READ", error.strerror) from error
    # Nothing is pasted in a process without windows. Discard the previous file's keys to free their memory.
    session.forget()
    try:
        # Load the file's interface so that the result keeps the animator's windows.
        bpy.ops.wm.open_mainfile(filepath=str(file.absolute()), load_ui=True, use_scripts=False)
    except RuntimeError as error:
        here, why = _release(bpy.app.version), reports_in(error)
        raise unusable("FILE_NOT_OPENED", here, why) from error
    converted = _check_release(report, writes)
    report.errors += [Finding("LIBRARY_MISSING", arguments=(path,)) for path in missing_libraries()]
    libraries = {path: version_of(path) for path in library_paths()}
    return Source(is_compressed, version_of_status(status), libraries, converted)


def _is_compressed(file: Path) -> bool:
    """Return whether a .blend file is compressed. Raises OSError, and AnimationError for other files."""
    with file.open("rb") as stream:
        head = stream.read(max(map(len, _IS_COMPRESSED)))
    for first_bytes, is_compressed in _IS_COMPRESSED.items():
        if head.startswith(first_bytes):
            return is_compressed
    raise unusable("FILE_NOT_BLEND" if head else "FILE_EMPTY")


def missing_libraries() -> list[str]:
    """Return the paths of the open file's missing libraries."""
    return [library.filepath for library in bpy.data.libraries if library.is_missing]


def _check_release(report: Report, writes: bool) -> Finding | None:
    """Refuse to write a file that a newer version of Blender has saved. Raises AnimationError.

    Return a note if writing the file converts it to this Blender version.
    """
    saved, here = _release(tuple(bpy.data.version)), _release(bpy.app.version)
    if tuple(bpy.data.version) > tuple(bpy.app.version_file):
        if writes:
            raise unusable("FILE_OF_NEWER", saved, here)
        report.notes.append(Finding("SAVED_BY_NEWER", arguments=(saved, here)))
    elif writes and saved != here:
        return Finding("RESULT_CONVERTED", arguments=(saved, here))
    return None


def _release(version: Sequence[int]) -> str:
    return f"{version[0]}.{version[1]}"


def library_paths() -> Iterator[str]:
    """Yield the absolute paths of the open file's libraries, with links resolved."""
    for library in bpy.data.libraries:
        yield os.path.realpath(bpy.path.abspath(library.filepath, library=library.parent))
