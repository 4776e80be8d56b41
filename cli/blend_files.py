# SPDX-License-Identifier: GPL-3.0-or-later
"""Open .blend files, and write results without losing work, also if the process is killed."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import shutil
import stat
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy

from ..animation import AnimationError, Finding, Report
from ..animation.store.table.session import session
from ..animation.text import rpt_

Version = tuple[int, int]
"""Time and size of a file, which change when another process writes the file."""
_IS_COMPRESSED = {b"BLENDER": False, b"\x28\xb5\x2f\xfd": True, b"\x1f\x8b": True}
"""First bytes of .blend files, uncompressed or compressed by Zstandard or gzip, and whether they are compressed."""
_HOST = f"{zlib.crc32(platform.node().encode()):08x}"
_ABANDONED_AFTER = 86400.0
"""Seconds after which an incomplete file counts as abandoned."""


def version_of(path: str | Path) -> Version | None:
    """Return the version of a file, or None if it does not exist."""
    try:
        return _version_of_status(os.stat(path))
    except OSError:
        return None


def _version_of_status(status: os.stat_result) -> Version:
    return status.st_mtime_ns, status.st_size


def unusable(code: str, *arguments: object) -> AnimationError:
    """Return the error for a file or a target that cannot be used."""
    return AnimationError(Finding(code, arguments=tuple(map(str, arguments))))


def _reports_in(error: RuntimeError) -> str:
    """Return Blender's reports as one line."""
    return "; ".join(line.removeprefix("Error: ") for line in str(error).strip().splitlines() if line)


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

    A missing or unreadable library is an error in the report, because its datablocks are missing from the result.
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
        # Blender also raises an exception for an incomplete library, after it has opened the file.
        if bpy.data.filepath != str(file.absolute()) or not missing_libraries():
            here, why = _release(bpy.app.version), _reports_in(error)
            raise unusable("FILE_NOT_OPENED", here, why) from error
    converted = _check_release(report, writes)
    libraries = {path: version_of(path) for path in _library_paths()}
    report.errors += _library_faults()
    return Source(is_compressed, _version_of_status(status), libraries, converted)


def _is_compressed(file: Path) -> bool:
    """Return whether a .blend file is compressed. Raises OSError, and AnimationError for other files."""
    with file.open("rb") as stream:
        head = stream.read(max(map(len, _IS_COMPRESSED)))
    for first_bytes, is_compressed in _IS_COMPRESSED.items():
        if head.startswith(first_bytes):
            return is_compressed
    raise unusable("FILE_NOT_BLEND" if head else "FILE_EMPTY")


def missing_libraries() -> list[str]:
    """Return the paths of the open file's libraries that are missing or unreadable."""
    return [library.filepath for library in bpy.data.libraries if library.is_missing]


def _library_faults() -> list[Finding]:
    """Return an error for each library that is missing, or that exists but could not be read."""
    return [
        Finding("LIBRARY_NOT_READ" if os.path.exists(_path_of(library)) else "LIBRARY_MISSING", arguments=(path,))
        for library in bpy.data.libraries
        if library.is_missing and (path := library.filepath)
    ]


def _check_release(report: Report, writes: bool) -> Finding | None:
    """Return a note if writing converts the file. Raises AnimationError for writing a file of a newer Blender."""
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


def _library_paths() -> Iterator[str]:
    """Yield the absolute paths of the open file's libraries, with links resolved."""
    yield from map(_path_of, bpy.data.libraries)


def _path_of(library: bpy.types.Library) -> str:
    return os.path.realpath(bpy.path.abspath(library.filepath, library=library.parent))


def check_target(target: Path, makes_folder: bool) -> None:
    """Check, as far as possible, that the result can be written. Raises AnimationError."""
    folder = target.parent
    try:
        if target.exists() and not target.is_file():
            raise unusable("TARGET_NOT_A_FILE", target)
        if target.exists() and not os.access(target, os.W_OK):
            raise unusable("TARGET_PROTECTED", target)
        if not makes_folder and not folder.is_dir():
            raise unusable("FOLDER_MISSING", folder)
        while not folder.exists() and folder.parent != folder:
            folder = folder.parent
        if not folder.is_dir():
            raise unusable("FOLDER_NOT_A_FOLDER", folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise unusable("FOLDER_PROTECTED", folder)
    except OSError as error:
        raise unusable("TARGET_NOT_WRITTEN", target, error.strerror) from error


def check_no_library(target: Path) -> None:
    """Check that the result would not replace a library of the open file. Raises AnimationError."""
    if str(target) in _library_paths():
        raise unusable("TARGET_IS_LIBRARY", target)


def save(
    source: Source,
    target: Path,
    in_place: bool,
    before_rename: Callable[[Version], None],
    content: bytes | None = None,
) -> None:
    """Write the open file, or `content`, under a temporary name next to the target, then rename it.

    If writing is interrupted, the target is either the old or the new file. `before_rename` is called with the
    version of the new file before it is renamed, and may prevent renaming by raising an error. Raises AnimationError.
    """
    kind = ".blend" if content is None else target.suffix
    temporary = target.with_name(f"{_prefix(target)}{_HOST}-{os.getpid():x}-{secrets.token_hex(4)}{kind}")
    remove_leftovers(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            _write(temporary, source, in_place)
        else:
            temporary.write_bytes(content)
        _force_to_disk(temporary)
        if target.exists():
            _take_over_rights(target, temporary)
        if in_place and _version_of_status(target.stat()) != source.version:
            raise unusable("FILE_CHANGED")
        before_rename(_version_of_status(temporary.stat()))
        os.replace(temporary, target)
        _force_to_disk(target.parent)
    except OSError as error:
        free = _free_space(target.parent)
        raise unusable("TARGET_NOT_WRITTEN", target, f"{error.strerror}{free}") from error
    finally:
        for leftover in (temporary, Path(f"{temporary}@")):  # Blender itself writes to the second name first
            with contextlib.suppress(OSError):
                leftover.unlink()


def remove_leftovers(target: Path) -> None:
    """Remove incomplete files of dead processes on this machine, and day-old incomplete files of other machines."""
    prefix = _prefix(target)
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(prefix) and _is_abandoned(target.with_name(name), name.removeprefix(prefix)):
                target.with_name(name).unlink()


def _prefix(target: Path) -> str:
    """Return the prefix of temporary file names. The machine, the process and a random number follow the prefix."""
    return f".{target.stem[:40]}.tcb-"


def _is_abandoned(file: Path, writer: str) -> bool:
    """Return whether the incomplete file of the writer, which is a machine and a process, is abandoned."""
    host, process, *_ = (*writer.split("-"), "")
    if host == _HOST and os.name == "posix":
        try:
            os.kill(int(process, 16), 0)
        except ProcessLookupError:
            return True
        except (ValueError, OverflowError, PermissionError):
            pass
        else:
            return False
    return time.time() - file.stat().st_mtime > _ABANDONED_AFTER


def _write(temporary: Path, source: Source, in_place: bool) -> None:
    try:
        bpy.ops.wm.save_as_mainfile(
            filepath=str(temporary),
            check_existing=False,
            copy=True,
            compress=source.is_compressed,
            # A file saved in place keeps its relative paths, even if it was opened through a link.
            relative_remap=not in_place,
        )
    except RuntimeError as error:
        folder = temporary.parent
        free, why = _free_space(folder), _reports_in(error)
        raise unusable("BLENDER_DID_NOT_WRITE", folder, free, why) from error


def _force_to_disk(path: Path) -> None:
    """Flush the content of a file, or the names in a folder, to the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _take_over_rights(target: Path, temporary: Path) -> None:
    shutil.copymode(target, temporary)
    old, new = target.stat(), temporary.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with contextlib.suppress(OSError):  # only root can change the owner of a file
            os.chown(temporary, old.st_uid, old.st_gid)


def _free_space(folder: Path) -> str:
    """Return a note on free space, because on a full disk Blender only reports a missing file."""
    try:
        free = rpt_("{:,.0f} MB free", shutil.disk_usage(folder).free / 1e6)
        return f" ({free})"
    except OSError:
        return ""
