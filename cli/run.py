# SPDX-License-Identifier: GPL-3.0-or-later
"""The run of the command: files one after the other, or several at once, what changes them, and the exit status.

Results go to standard output: a line a file, a table for info, of several files the totals; or with --json one JSON
object a line and nothing else. Progress, notes and errors go to standard error.
"""

from __future__ import annotations

import contextlib
import functools
import math
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence

import bpy

from .. import animation
from ..animation import Finding
from ..animation.edit.enable import plain_among
from ..animation.report import HandleError
from ..animation.store.tracks import blocking_reason
from ..animation.translation import n_, rpt_
from .arguments.parser import Job, parse
from .blend_files import can_be_copied, check_no_library, check_target, open_file
from .choosing import choose, has_keys, nothing_to_do, sets_of, tracks_of
from .log import save_result, write_outcome, write_skipped
from .outcome import Outcome, Ticker, Total, announce, announce_for, print_outcome
from .processes import do_all, serve
from .skip_done import done_before
from .streams import Stop, only_results_on_standard_output, stopped_by_interrupt, terminated_like_interrupted
from .verbs.check import check_motion
from .verbs.curves import restore_all
from .verbs.export import export_file
from .verbs.import_files import import_file
from .verbs.info import changes_since, list_tracks, snapshot
from .verbs.reduce import reduce_all
from .verbs.rotations import list_rotations, repair_rotations
from .verbs.tables import export_keys, import_keys, write_all_velocities

PROGRAM = "blender --command tcb"

_INTERRUPTED = 130
"""Exit status by the custom of shells: 128 and the number of the signal."""

_READING = {"info": list_tracks, "check": check_motion, "rotations": list_rotations}
"""Verbs that only read files; of `rotations` without --repair."""
_WRITING = {
    "import": import_file,
    "export": export_file,
    "import-table": import_keys,
    "export-table": export_keys,
}
"""Verbs that write results of their own; the others write the file that they have changed."""


def main(arguments: Sequence[str], program: str = PROGRAM, start: Sequence[str] = ()) -> int:
    """Run the command and return its exit status.

    It is 0 if all went well, 1 if a file failed, 2 if the arguments make no sense, 3 if all files are done, but
    something in one was refused, or lost as the file is damaged. `start`: the command line, without arguments, that
    starts the command in another process.
    """
    seconds = time.process_time()
    try:
        job = parse(arguments, program)
        with only_results_on_standard_output() as results, terminated_like_interrupted():
            if job.is_worker:
                serve(functools.partial(_do, job), results)
                return 0
            if job.blender or not start:
                start = (job.blender or bpy.app.binary_path, "--command", "tcb")
            # The verb is the first; after the files there may be what ends the options.
            command = [*start, arguments[0], "--worker", *arguments[1:]]
            total = Total()
            with (
                stopped_by_interrupt(_print_stopping) as stop,
                contextlib.closing(_outcomes(job, command, seconds, stop)) as outcomes,
            ):
                for outcome in outcomes:
                    total.add(outcome)
                    print_outcome(outcome, job, results)
                    if len(job.files) > 1:
                        announce(total.line(len(job.files)))
            if len(job.files) > 1 and not job.as_json:
                results.write(total.table())
        if stop.asked:
            announce(rpt_("interrupted"))
        return _INTERRUPTED if stop.asked else total.exit_status
    except BrokenPipeError:
        return 1  # nobody reads the results any more
    except KeyboardInterrupt:
        announce(rpt_("interrupted"))
        return _INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _print_stopping() -> None:
    announce(rpt_("stops after the file at work; Ctrl-C again stops at once"))


def _outcomes(job: Job, command: Sequence[str], start: float, stop: Stop) -> Generator[Outcome, None, None]:
    """Yield the outcomes of all files of the job, first of those done before; after a stop, of those that were begun.

    `start`: processor seconds that the command takes to start.
    """
    to_do = []
    for number, file in enumerate(job.files):
        outcome = done_before(job, number)
        if outcome:
            announce_for(file, rpt_("done already"))
            yield outcome
        else:
            to_do.append(number)
    yield from do_all(job, to_do, functools.partial(_do, job), command, start, stop)


def _do(job: Job, number: int) -> Outcome:
    """Do one file of the job; its errors stand in the outcome, since the next file is still to be done."""
    outcome = Outcome(job.files[number], is_dry=job.is_dry)
    start = time.perf_counter()
    announce_for(outcome.file, rpt_("{:s}, file {:d} of {:d}", job.verb, number + 1, len(job.files)))
    try:
        if not job.targets:
            open_file(outcome.file, outcome.report, writes=False)
            _READING[job.verb](job, outcome)
        else:
            _WRITING.get(job.verb, _change)(job, number, outcome)
    except animation.AnimationError as error:
        outcome.is_dry = False
        outcome.report.errors += error.findings
    except Exception as error:
        traceback.print_exc()
        outcome.is_dry = False
        outcome.report.errors.append(Finding("FILE_FAULT", arguments=(type(error).__name__, str(error))))
    write_outcome(job, number, outcome)
    outcome.seconds = time.perf_counter() - start
    return outcome


def _change(job: Job, number: int, outcome: Outcome) -> None:
    """Read the file, do what the verb says, and write the result if there is one. Raises AnimationError."""
    target = job.targets[number]
    check_target(target, job.makes_folder)
    source = open_file(outcome.file, outcome.report, writes=True)
    check_no_library(target)
    before = snapshot() if job.is_dry else {}
    datablocks = [] if job.verb in ("rotations", "curves") else choose(job, outcome)
    if job.verb == "rotations":
        outcome.report.add(repair_rotations(job, outcome))
    elif job.verb == "bake":
        _bake(datablocks, job, outcome)
    elif job.verb == "velocities":
        outcome.report.add(write_all_velocities(datablocks, job))
    elif job.verb == "enable":
        every = dict.fromkeys(datablocks)
        _add_faults(
            animation.enable_many(every, None, job.keep_look, None, job.max_change, job.path), outcome, job, every
        )
    elif job.verb == "curves":
        outcome.report.add(restore_all(job, outcome))
    elif job.verb == "reduce":
        outcome.report.add(reduce_all(datablocks, job, outcome))
    else:
        _take_away(datablocks, job, outcome)
    if job.is_dry:
        outcome.results["changes"] = changes_since(before)
    if outcome.withhold(job.is_strict):
        outcome.is_dry = False
        return
    if not outcome.report.tracks:
        outcome.nothing_to_do = outcome.nothing_to_do or nothing_to_do(job, bool(datablocks))
        if not job.copies_skipped:
            write_skipped(job, number, outcome, source)
            return
    unchanged = bool(outcome.nothing_to_do) and can_be_copied(outcome.file, source, target)
    outcome.report.notes += [source.converted] if source.converted and not unchanged else []
    save_result(job, number, outcome, source, outcome.file if unchanged else None)


def _bake(datablocks: list[bpy.types.ID], job: Job, outcome: Outcome) -> None:
    every = dict.fromkeys(datablocks)
    plain = every if job.enables else plain_among(every) if job.patterns else {}
    tick = Ticker(outcome.file, n_("{:,} of {:,} tracks"))
    report = animation.enable_and_bake(every, plain, job.options, job.keep_look, tick, False, job.max_change, job.path)
    _add_faults(report, outcome, job, plain)


def _add_faults(report: animation.Report, outcome: Outcome, job: Job, to_enable: Iterable[bpy.types.ID]) -> None:
    """Add the report to the outcome; notes on plain tracks that Enable left alone, and on visible changes, are errors.

    All of what is `to_enable` was asked for.
    """
    tracks = [track for datablock in to_enable for track in tracks_of(datablock)]
    left_alone = {
        reason
        for track in tracks
        if track.in_use and not track.enabled and has_keys(track) and (reason := blocking_reason(track))
    }
    far = {(each["datablock"], each["track"]) for each in report.handles if _is_visible(each, job.max_change)}

    def is_fault(note: Finding) -> bool:
        if note.code == "HANDLES_APPROXIMATE":
            return (note.object, note.track) in far
        is_linear = note.code == "LINEAR_CURVED" and note.arguments[1]
        return note in left_alone or note.code == "LOOK_CHANGED" or is_linear

    report.errors = [*dict.fromkeys((*report.errors, *filter(is_fault, report.notes)))]
    report.notes = [note for note in report.notes if not is_fault(note)]
    outcome.report.add(report)


def _is_visible(handles: HandleError, max_change: tuple[float, float]) -> bool:
    angle, share = max_change
    return handles["error"] > (math.degrees(angle) if handles["rotation"] else share * handles["range"])


def _take_away(datablocks: list[bpy.types.ID], job: Job, outcome: Outcome) -> None:
    """Free, restore, apply or remove."""
    verbs: dict[str, Callable[[bpy.types.ID], animation.Report]] = {
        "free": functools.partial(animation.free, discard_edits=job.discards_edits),
        "restore": animation.restore,
        "apply": animation.apply,
        "remove": animation.remove,
    }
    work = verbs[job.verb]
    report = animation.Report()
    tick = Ticker(outcome.file, n_("{:,} of {:,} datablocks"))
    done: set[object] = set()
    for number, datablock in enumerate(datablocks):
        identities = {channels.identity for channels in sets_of(datablock)}
        # What several datablocks share is taken away with the first.
        if not identities or not identities <= done:
            done |= identities
            try:
                report.add(work(datablock))
            except animation.AnimationError as refusal:
                report.errors += refusal.findings
        tick(number + 1, len(datablocks))
    outcome.report.add(report)
