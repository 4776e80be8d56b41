# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command tcb bake|restore|remove|enable|info FILE…`: .blend files without a window.

Results go to standard output: a line a file, a table for info, or with --json one JSON object a line and nothing else.
Progress, notes and errors go to standard error.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from .. import animation
from ..animation.channels import channels_of
from ..animation.tracks import why_not
from .arguments import Job, parse
from .blend_files import UnusableError, check_no_library, check_target, open_file, save
from .choosing import NOTHING_TO_DO, choose, has_keys, tracks_of
from .info import inform
from .outcome import Outcome, Ticker, say, tell
from .streams import only_results_on_standard_output, terminated_like_interrupted

PROGRAM = "blender --command tcb"

_INTERRUPTED = 130
"""Exit status by the custom of shells: 128 and the number of the signal."""

_registered: list[Any] = []


def register() -> None:
    _registered.append(bpy.utils.register_cli_command("tcb", main))


def unregister() -> None:
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())


def main(arguments: Sequence[str], program: str = PROGRAM) -> int:
    """Run the command and return its exit status: 0 all went well, 1 something did not, 2 it makes no sense."""
    try:
        job = parse(arguments, program)
        with only_results_on_standard_output() as results, terminated_like_interrupted():
            all_well = True
            for number in range(len(job.files)):
                outcome = _run(job, number)
                tell(outcome, job, results)
                all_well &= outcome.well
        return 0 if all_well else 1
    except BrokenPipeError:
        return 1  # nobody reads the results any more
    except KeyboardInterrupt:
        print("tcb: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _run(job: Job, number: int) -> Outcome:
    """Do one file of the job. What goes wrong stands in the outcome: the next file is still to be done."""
    outcome = Outcome(job.files[number])
    start = time.perf_counter()
    say(outcome.file, f"{job.verb}, file {number + 1} of {len(job.files)}")
    try:
        if job.verb == "info":
            open_file(outcome.file, outcome.notes, writes=False)
            inform(job, outcome)
        else:
            _change(job, number, outcome)
    except UnusableError as error:
        outcome.errors.append(str(error))
    except Exception as error:
        traceback.print_exc()
        outcome.errors.append(f"{type(error).__name__}: {error} (a fault of TCB Animation's; please report it)")
    outcome.seconds = time.perf_counter() - start
    return outcome


def _change(job: Job, number: int, outcome: Outcome) -> None:
    """Read the file, do what the verb says, and write the result if there is one. Raises UnusableError."""
    target = job.targets[number]
    check_target(target, job.makes_folder)
    source = open_file(outcome.file, outcome.notes, writes=True)
    check_no_library(target)
    datablocks = choose(job, outcome)
    if job.verb == "bake":
        _bake(datablocks, job.options, outcome)
    else:
        _take_each(datablocks, job.verb, outcome)
    if outcome.report.tracks:
        save(source, target, job.in_place)
        outcome.output = target
    elif not outcome.errors:
        outcome.errors.append(NOTHING_TO_DO[job.verb])


def _bake(datablocks: list[bpy.types.ID], options: animation.Options, outcome: Outcome) -> None:
    # The whole of it was asked for: a track that can't be baked is a failure here, not only a note.
    left_alone = {text for datablock in datablocks for text in _tracks_that_bake_leaves_alone(datablock)}
    outcome.report = animation.bake_many(datablocks, options, progress=Ticker(outcome.file, "tracks"))
    outcome.errors += map(str, outcome.report.refusals)
    for note in outcome.report.notes:
        (outcome.errors if note in left_alone else outcome.notes).append(note)


def _tracks_that_bake_leaves_alone(datablock: bpy.types.ID) -> Iterator[str]:
    tracks = tracks_of(datablock)
    if any(track.enabled for track in tracks):
        return  # then the others are not asked for, and bake counts what is wrong with these as errors by itself
    for track in tracks:
        reason = why_not(datablock, track) if track.in_use and has_keys(track) else ""
        if reason:
            yield str(track.refusal(reason))


def _take_each(datablocks: list[bpy.types.ID], verb: str, outcome: Outcome) -> None:
    """Restore, remove or enable."""
    work = {"restore": animation.restore, "remove": animation.remove, "enable": animation.enable}[verb]
    tick = Ticker(outcome.file, "datablocks")
    done: set[tuple[int, int]] = set()
    for number, datablock in enumerate(datablocks):
        try:
            identity = channels_of(datablock).identity
            if identity not in done:
                done.add(identity)
                outcome.report.add(work(datablock))
        except animation.Refusal as refusal:
            outcome.errors.append(str(refusal))
        tick(number + 1, len(datablocks))
    outcome.errors += map(str, outcome.report.refusals)
    outcome.notes += outcome.report.notes
