# SPDX-License-Identifier: GPL-3.0-or-later
"""The option `--skip-done`, which records finished files and skips them in later runs."""

from __future__ import annotations

import functools
import json
import os
import tomllib
from pathlib import Path
from typing import Any

import bpy

from ..animation.errors import AnimationError, Finding
from .blend_files import Source, Version, version_of
from .job import File, Job
from .outcome import Outcome

_LOG = ".tcb-done.jsonl"


def record_done(job: Job, file: Path, target: Path, source: Source, result: Version | None) -> None:
    """Record the version of the result and its dependencies. A result of None means that there was nothing to do.

    Raises AnimationError.
    """
    others = {path: version_of(path) for path in job.inputs}
    inputs = {**source.libraries, **others, os.path.realpath(file): source.version}
    if result is not None:
        inputs.pop(str(target), None)  # the result may replace the file
    options = job.options_of_result
    entry = {"output": str(target), "result": result, "inputs": inputs, "asked": options, "with": made_with()}
    log = target.parent / _LOG
    try:
        if job.makes_folder:
            log.parent.mkdir(parents=True, exist_ok=True)
        # Append in one write, because other processes write to the file too.
        with log.open("ab", buffering=0) as stream:
            stream.write((json.dumps(entry) + "\n").encode())
    except OSError as error:
        raise AnimationError(Finding("LOG_NOT_WRITTEN", arguments=(str(log), str(error.strerror)))) from error


def done_before(job: Job, file: File) -> Outcome | None:
    """Return the outcome of a file from an earlier run if its result would be the same again."""
    target = file.target
    if target is None or not job.given.skip_done:
        return None
    log = target.parent / _LOG
    entry = _last_entries(log, version_of(log)).get(str(target), {})
    if not entry or entry["asked"] != job.options_of_result or entry["with"] != made_with():
        return None
    files = dict(entry["inputs"])
    has_result = entry["result"] is not None
    if has_result:
        files[str(target)] = entry["result"]
    is_same = file.source.exists() and all(
        version_of(path) == (None if version is None else tuple(version)) for path, version in files.items()
    )
    return Outcome(file.source, output=target if has_result else None, done_before=True) if is_same else None


@functools.lru_cache(maxsize=1)
def _last_entries(log: Path, _version: Version | None) -> dict[str, dict[str, Any]]:
    """Return the last entry of each result. Skip unreadable lines from killed processes."""
    try:
        lines = log.read_bytes().splitlines()
    except OSError:
        return {}
    entries: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            entry = json.loads(line)
            entries[entry["output"]] = entry
        except (ValueError, TypeError, KeyError):
            continue
    return entries


@functools.cache
def made_with() -> str:
    """Return the software versions that a result depends on."""
    manifest = tomllib.loads(Path(__file__).parents[1].joinpath("blender_manifest.toml").read_text(encoding="utf-8"))
    return f"{manifest['name']} {manifest['version']}, Blender {bpy.app.version_string}"
