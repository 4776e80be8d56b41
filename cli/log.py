# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of what became of each file, and results, which are saved with it; skip_done.py reads it again."""

from __future__ import annotations

import datetime
import functools
import json
import os
import tomllib
from pathlib import Path
from typing import Any

import bpy

from ..animation.errors import AnimationError, Finding
from .arguments.parser import Job
from .blend_files import Source, Version, save
from .outcome import Outcome, print_note


def write_result(job: Job, number: int, outcome: Outcome, source: Source, result: Version | None) -> None:
    """Record the outcome and the version that the result, if there is one, will have. Raises AnimationError."""
    inputs = {**source.libraries, os.path.realpath(outcome.file): source.version}
    if result is not None:
        inputs.pop(str(job.targets[number]), None)  # where that is replaced by the result
    try:
        _append(job, number, outcome, {"result": result, "inputs": inputs, "asked": job.asked, "with": made_with()})
    except OSError as error:
        raise AnimationError(_not_written(job, number, error)) from error


def save_result(job: Job, number: int, outcome: Outcome, source: Source, content: bytes | Path | None = None) -> None:
    """Write the open file, or `content`, as the outcome's result, and record that; raise AnimationError.

    `content`: bytes, or a file of which a copy is made.
    """
    if job.is_dry:
        return
    outcome.output = target = job.targets[number]
    try:
        save(source, target, job.in_place, functools.partial(write_result, job, number, outcome, source), content)
    except AnimationError:
        outcome.output = None
        raise


def write_skipped(job: Job, number: int, outcome: Outcome, source: Source) -> None:
    """Record that there was nothing to do in the file. Raises AnimationError."""
    write_result(job, number, outcome, source, None)


def write_outcome(job: Job, number: int, outcome: Outcome) -> None:
    """Record what became of the file, unless that has been done."""
    if outcome.logged != outcome.report.errors:
        try:
            _append(job, number, outcome, {})
        except OSError as error:
            print_note(outcome.file, str(_not_written(job, number, error)))


def _not_written(job: Job, number: int, error: OSError) -> Finding:
    return Finding("LOG_NOT_WRITTEN", arguments=(str(job.log_of(number)), str(error.strerror)))


def _append(job: Job, number: int, outcome: Outcome, more: dict[str, Any]) -> None:
    log = job.log_of(number)
    if log is None or job.is_dry:
        return
    entry = {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": job.verb,
        "file": str(outcome.file),
        "status": outcome.status,
        "errors": [error.to_dict() for error in outcome.report.errors],
        "output": str(job.targets[number]) if job.targets else None,
        **more,
    }
    if job.makes_folder:
        log.parent.mkdir(parents=True, exist_ok=True)
    # In one write, and in append mode: other processes write to it too.
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, (json.dumps(entry) + "\n").encode())
    finally:
        os.close(descriptor)
    outcome.logged = list(outcome.report.errors)


@functools.lru_cache(maxsize=1)
def last_entries(log: Path, _version: Version | None) -> dict[str, dict[str, Any]]:
    """Return the last entry of each result; a line that can't be parsed, of a process that was killed, is left out."""
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
    """Return the versions that a result depends on."""
    manifest = tomllib.loads(Path(__file__).parents[1].joinpath("blender_manifest.toml").read_text(encoding="utf-8"))
    return f"{manifest['name']} {manifest['version']}, Blender {bpy.app.version_string}"
