# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of processing a file: its status, the exit status, its text and JSON, and `--skip-done`.

Results go to standard output, as one line per file, and for `info` also one line per track. With --json, results are
one JSON object per line. Progress, notes and errors go to standard error. docs/automate/json.md describes each field.
"""

from __future__ import annotations

import functools
import json
import math
import os
import sys
import time
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import bpy

from ..animation import AnimationError, Finding, Report
from ..animation.checks.track_state import STATES
from ..animation.report import one_of_each
from ..animation.text import counted, iface_, n_, rpt_, size_text
from ..interp.keys import WORDS
from .arguments import File, Job
from .blend_files import Source, Version, version_of

# Status, text and JSON


Status = Literal["done", "faults", "failed", "skipped", "before"]
"""The status of a file: "faults" if something was rejected or lost, "before" if an earlier run processed the file."""
_EXIT_STATUS: dict[Status, int] = {"failed": 1, "faults": 3, "done": 0, "skipped": 0, "before": 0}
"""The exit status of the command if a file has this status. The first status in this order decides. The argument parser
exits with status 2."""
_LIBRARY_FAULTS = ("LIBRARY_MISSING", "LIBRARY_NOT_READ")
_DONE = {
    "bake": n_("Baked {:s}"),
    "enable-and-bake": n_("Baked {:s}"),
    "free": n_("Freed {:s}"),
    "restore": n_("Restored {:s}"),
    "apply": n_("Applied {:s}"),
    "remove": n_("Removed TCB from {:s}"),
    "enable": n_("Enabled {:s}"),
    "reduce": n_("Reduced {:s}"),
    "curves": n_("Restored the curves of {:s}"),
    "rotations": n_("Repaired rotations: {:s}"),
    "import": n_("Imported {:s}"),
    "export": n_("Exported {:s}"),
    "import-table": n_("Imported {:s}"),
    "export-table": n_("Exported {:s}"),
    "velocities": n_("Wrote velocities of {:s}"),
    "no-velocities": n_("Removed velocities of {:s}"),
}
"""The texts for results, by `Job.work`. The argument contains the counts."""
_CHANGE_HEADINGS = {"state": "", "keys": n_("keys"), "samples": n_("samples"), "curve_keys": n_("generated keys")}
_COUNTS = ("datablocks", "objects", "tracks", "keys", "changed_keys", "samples", "curve_keys", "looks_kept")
"""The counts in a report."""
VERSION = 1
"""Version of the schema, which changes when a field is removed or changes its meaning."""
_PARAMETERS = {**WORDS, "velocity": n_("velocity")}


def exit_status(statuses: Collection[Status]) -> int:
    """Return the exit status of the command for the statuses of its files."""
    return next((number for status, number in _EXIT_STATUS.items() if status in statuses), 0)


@dataclass
class Outcome:
    """The outcome of a file."""

    file: Path
    report: Report = field(default_factory=Report)
    """The report, including all errors and notes on the file."""
    output: Path | None = None
    results: dict[str, Any] = field(default_factory=dict)
    """The lists of the verb, such as faults, violations or datablocks."""
    summary: str = ""
    """The result of a check as one line."""
    seconds: float = 0.0
    nothing_to_do: Finding | None = None
    """The reason why nothing was done. This is not an error."""
    done_before: bool = False
    is_written: bool = False
    """True if a result is written, or would be written without --dry-run."""
    is_withheld: bool = False
    """True if --strict has withheld the result."""

    @property
    def status(self) -> Status:
        """Return the status of the file.

        A file with both errors and a result has the status "faults", and the result contains the rejected items
        unchanged. A library that is missing or unreadable is also a fault if nothing is written, unless --strict has
        withheld the result.
        """
        if self.report.errors:
            lacks_libraries = all(error.code in _LIBRARY_FAULTS for error in self.report.errors)
            return "faults" if self.is_written or (lacks_libraries and not self.is_withheld) else "failed"
        if self.done_before:
            return "before"
        return "done" if self.nothing_to_do is None else "skipped"

    def decide(self, job: Job) -> bool:
        """Decide whether a result is written, after the verb has run. Return false if errors prevent a result.

        A file without changed tracks has no result, and errors prevent a result under --strict or without changed
        tracks.
        """
        has_result = bool(self.report.tracks) or job.always_has_result
        if self.report.errors and (job.given.strict or not has_result):
            self.report.notes += [Finding("NOT_WRITTEN_STRICT")] if has_result else []
            self.is_withheld = job.given.strict
            self.clear_counts()
            return False
        if not has_result and self.nothing_to_do is None:
            self.nothing_to_do = Finding(f"NOTHING_TO_{job.work.replace('-', '_').upper()}")
        self.is_written = self.nothing_to_do is None
        return True

    def fail(self, *errors: Finding) -> None:
        """Add errors that prevent a result."""
        self.report.errors += errors
        self.is_written = False
        self.clear_counts()

    def clear_counts(self) -> None:
        """Set the counts of the report to 0, because nothing is written."""
        for name in _COUNTS:
            setattr(self.report, name, 0)


def result_text(outcome: Outcome, job: Job) -> str:
    """Return the text of the outcome for standard output, in complete lines."""
    if job.given.json:
        return _json_line(outcome, job.verb)
    seconds = f"({outcome.seconds:.1f} s)"
    if job.verb == "info" and outcome.results:
        return _list_of_tracks(outcome)
    if outcome.summary:
        return f"{outcome.file}: {outcome.summary} {seconds}\n"
    if not outcome.is_written:
        return _list_of_faults(outcome, seconds) if job.verb == "rotations" and outcome.results else ""
    reductions = outcome.results.get("reduced")
    if reductions:
        # Count keys as --keys does.
        keys = sum(reduction["diamonds"] for reduction in reductions)
        done = rpt_(_DONE[job.work], replace(outcome.report, keys=keys).counts) + _maximum_errors(reductions)
    else:
        done = rpt_(_DONE[job.work], outcome.report.counts)
    where = rpt_("(dry run)") if outcome.output is None else f"-> {outcome.output}"
    changes = [f"    {_change(change)}\n" for change in outcome.results.get("changes", ())]
    return "".join((f"{outcome.file}: {done} {where} {seconds}\n", *changes))


def _maximum_errors(reductions: Sequence[Mapping[str, Any]]) -> str:
    text = rpt_(", maximum error {:s}", size_text(max(reduction["error"] for reduction in reductions)))
    angle = math.radians(max(reduction["angle"] for reduction in reductions))
    return text + rpt_(" and {:s}", size_text(angle, is_angle=True)) if angle else text


def _list_of_faults(outcome: Outcome, seconds: str) -> str:
    findings = [fault["finding"] for fault in outcome.results["faults"]]
    faults = counted(len(findings), n_("{:,} fault"), n_("{:,} faults"))
    counts = rpt_("{:s} in {:s}", faults, counted(outcome.report.tracks, n_("{:,} track"), n_("{:,} tracks")))
    lines = [f'    "{finding["object"]}", {finding["track"]}: {finding["message"]}\n' for finding in findings]
    return "".join((f"{outcome.file}: {counts} {seconds}\n", *lines))


def _change(change: dict[str, Any]) -> str:
    """Return the change in a track as text: its old and new state, and its old and new numbers of keys."""
    parts = []
    for name, heading in _CHANGE_HEADINGS.items():
        if any(change[name]):
            before, after = ("-" if value is None else str(value) for value in change[name])
            shown = before if before == after else f"{before} -> {after}"
            parts.append(f"{rpt_(heading)} {shown}".strip())
    return f'"{change["object"]}", {change["track"]}: {", ".join(parts)}'


def _json_line(outcome: Outcome, verb: str) -> str:
    """Return the outcome as one line of JSON."""
    report = outcome.report.to_dict()
    if outcome.nothing_to_do:
        report["notes"].insert(0, outcome.nothing_to_do.to_dict())
    fields = {
        "version": VERSION,
        "command": verb,
        "file": str(outcome.file),
        "status": outcome.status,
        "output": None if outcome.output is None else str(outcome.output),
        "seconds": round(outcome.seconds, 3),
        **report,
        **outcome.results,
    }
    return json.dumps(fields, allow_nan=False) + "\n"


def _list_of_tracks(outcome: Outcome) -> str:
    """Return the tracks of `info` below their datablocks."""
    lines = [f"{outcome.file}: {rpt_('Found {:s}', outcome.report.counts)}"]
    lines += [f"  {rpt_('missing library {:s}', path)}" for path in outcome.results["missing_libraries"]]
    for datablock in outcome.results["animated"]:
        lines.append(_title(datablock))
        lines += [f"    {_track(track)}" for track in datablock["tracks"]]
    return "\n".join(lines) + "\n"


def _title(datablock: dict[str, Any]) -> str:
    known = [datablock[name] for name in ("name", "type", "action")]
    text = n_('"{:s}" ({:s}, linked), action "{:s}"') if datablock["linked"] else n_('"{:s}" ({:s}), action "{:s}"')
    return f"  {rpt_(text, *known)}"


def _track(track: dict[str, Any]) -> str:
    """Return the state, method, keys and parameters of a track as text."""
    method = track["method"]
    is_rotation = track["kind"] != "VECTOR"
    ends = ["?" if track[end] is None else f"{track[end]:g}" for end in ("first", "last")]
    # If a track was edited outside TCB, the reason that blocks it includes the state.
    parts = [] if track["state"] == STATES["EDITED_OUTSIDE"] else [iface_(track["state"])]
    if track["state"] != STATES["PLAIN"]:
        parts.append(rpt_("method {:s}", method))
    parts.append(rpt_("{:s} from frame {:s} to {:s}", _key_count(track["keys"]), *ends))
    if track["samples"]:
        parts.append(counted(track["samples"], n_("{:,} sample"), n_("{:,} samples")))
    if track["curve_keys"]:
        parts.append(counted(track["curve_keys"], n_("{:,} generated key"), n_("{:,} generated keys")))
    parts += [f"{rpt_(_PARAMETERS[name])}: {_key_count(count)}" for name, count in track["parameters"].items()]
    if track["error"] is not None and track["approximate"]:
        size = size_text(math.radians(track["error"]) if is_rotation else track["error"], is_angle=is_rotation)
        parts.append(rpt_("approximate (maximum error {:s} at frame {:g})", size, track["error_frame"]))
    if track["retimed"]:
        parts.append(rpt_("retimed"))
    if track["blocked"]:
        parts.append(track["blocked"]["message"])
    return f"{track['track']}: {', '.join(parts)}"


def _key_count(count: int) -> str:
    return counted(count, n_("{:,} key"), n_("{:,} keys"))


# Standard error


_PROGRESS_PERIOD = 1.0
"""Seconds between progress lines of a file."""


def announce(text: str) -> None:
    """Print to standard error in one write, because other processes may write there too."""
    sys.stderr.write(f"tcb: {text}\n")
    sys.stderr.flush()


def announce_for(file: Path, text: str) -> None:
    announce(f"{file}: {text}")


def print_findings(outcome: Outcome) -> None:
    """Print notes and errors to standard error."""
    for note in one_of_each(outcome.report.notes):
        announce_for(outcome.file, rpt_("note: {:s}", note))
    for error in one_of_each(outcome.report.errors):
        announce_for(outcome.file, rpt_("error: {:s}", error))
    if outcome.nothing_to_do:
        announce_for(outcome.file, str(outcome.nothing_to_do))


class Ticker:
    """The progress of a file, printed at limited intervals."""

    def __init__(self, file: Path, line: str) -> None:
        self.file = file
        self.line = line
        self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last >= _PROGRESS_PERIOD:
            self.last = now
            announce_for(self.file, rpt_(self.line, done, total))


# The option --skip-done


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
    entry = {"output": str(target), "result": result, "inputs": inputs, "asked": options, "with": _made_with()}
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
    if not entry or entry["asked"] != job.options_of_result or entry["with"] != _made_with():
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
def _made_with() -> str:
    """Return the software versions that a result depends on."""
    manifest = tomllib.loads(Path(__file__).parents[1].joinpath("blender_manifest.toml").read_text(encoding="utf-8"))
    return f"{manifest['name']} {manifest['version']}, Blender {bpy.app.version_string}"
