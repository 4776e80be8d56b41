# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of operators: the reports of each track, the notes on the last edit, and the messages to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import bpy

from ..animation import AnimationError, Report
from ..animation.edit.enable import FirstEdit
from ..animation.edit.track_keys import TrackKeys
from ..animation.messages import ASK_TO_FREE
from ..animation.report import Finding, one_of_each
from ..animation.text import counted, n_, translated
from .redraw import redraw_editors

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

    Status = set[OperatorReturnItems]
else:
    Status = set

SHOWN_NOTES = 5
"""Maximum number of notes to show. The remaining notes are counted."""


def finish(operator: bpy.types.Operator, report: Report, done: str, otherwise: str = "") -> Status:
    """Report the result (`done`) and any errors, or `otherwise` if there is neither. Return the status.

    A result creates an undo step, even if some tracks were skipped.
    """
    # If anything was done, selected datablocks without animation are only worth a note.
    skipped = [error for error in report.refused if report.tracks and error.code == "NO_ANIMATION"]
    refused = [error for error in report.refused if error not in skipped]
    keep_result_notes(report.notes)
    report_notes(operator, [*report.notes, *skipped])
    if report.tracks:
        operator.report({"INFO"}, done)
    elif otherwise and not refused:
        operator.report({"INFO"}, otherwise)
    if refused:
        lines = one_of_each(refused)
        operator.report({"ERROR"}, "\n".join(lines))
        if len(lines) < len(refused):
            _print(refused)
    redraw_editors()
    return {"FINISHED"} if report.tracks else {"CANCELLED"}


def refuse(operator: bpy.types.Operator, reason: object) -> Status:
    """Report the reason why the operator did nothing, an error or a text. Return the status."""
    operator.report({"ERROR"}, translated(reason))
    return {"CANCELLED"}


def report_notes(
    operator: bpy.types.Operator, notes: Sequence[Finding], level: Literal["INFO", "WARNING"] = "INFO"
) -> None:
    """Show one note of each kind. If there are more, print all notes to the console."""
    lines = list(one_of_each(notes))
    for line in lines[:SHOWN_NOTES]:
        operator.report({level}, line)
    remaining = len(lines) - SHOWN_NOTES
    if remaining > 0:
        one, more = n_("… and {:d} more note in the console"), n_("… and {:d} more notes in the console")
        operator.report({level}, counted(remaining, one, more))
    if lines[:SHOWN_NOTES] != list(map(str, notes)):
        _print(notes)


def _print(findings: Iterable[Finding]) -> None:
    for finding in findings:
        print(f"TCB: {finding}")


_IMPORTANT = ("NOT_REACHED", "REDUCED", "GIMBAL_LOCK", "FLIP_NOT_KEPT", "LOOK_CHANGED", "LINEAR_CURVED", "TURNS_KEPT")
"""Codes of the most important notes, in order."""
_notes: list[Finding] = []


def result_notes() -> list[Finding]:
    """Return the notes of the last operator, update or attempt to edit, with visible changes of the motion first."""
    return list(_notes)


def keep_result_notes(notes: Iterable[Finding]) -> None:
    """Replace the notes on the last edit. That Live was turned off is only reported, because the tab shows Live."""
    order = {code: rank for rank, code in enumerate(_IMPORTANT)}
    lasting_notes = (note for note in notes if note.code != "LIVE_OFF")
    _notes[:] = sorted(dict.fromkeys(lasting_notes), key=lambda note: order.get(note.code, len(order)))


def keep_update_notes(notes: Sequence[Finding]) -> None:
    """Replace the notes on the last edit if an update by Live has notes.

    A note on an attempt to edit baked tracks stays, because the same edit may have changed other tracks.
    """
    if notes:
        keep_result_notes([*notes, *(note for note in _notes if note.code in ASK_TO_FREE)])


@contextmanager
def errors_in(report: Report) -> Iterator[None]:
    """Add the findings of an AnimationError to the report instead of raising the error."""
    try:
        yield
    except AnimationError as error:
        report.errors += error.findings


def for_each_track(chosen: Iterable[TrackKeys], work: Callable[[TrackKeys], None]) -> Report:
    """Apply the function to the chosen keys of each track, and add up the results and errors."""
    report = Report()
    datablocks = {}
    for keys in chosen:
        with errors_in(report):
            work(keys)
            report.tracks += 1
            report.changed_keys += len(keys)
            datablocks[keys.datablock.as_pointer()] = keys.datablock
    report.add(Report.on(list(datablocks.values())))
    return report


def for_each_edited_track(
    chosen: Sequence[TrackKeys], defaults: Mapping[str, float], work: Callable[[TrackKeys], None]
) -> Report:
    """Apply a function that sets parameters to the chosen keys of each track (see `for_each_track`).

    Plain tracks are enabled first, as *Enable TCB* does, unless the function changes no track.
    """
    first_edit = FirstEdit(chosen, defaults)
    report = for_each_track(first_edit.chosen, work)
    if report.tracks:
        report.notes += first_edit.notes
    else:
        first_edit.revert()
    return report


def for_named_track(
    selected: dict[bpy.types.ID, list[str] | None],
    track: str,
    work: Callable[[bpy.types.ID, str], Report | None],
    keys: int,
) -> Report:
    """Apply the function to the named track of each datablock or bone, and add up the results and errors.

    The function may return a report on the preserved motion. `keys`: number of keys that each call changes.
    """
    report = Report()
    for datablock, bones in selected.items():
        tracks_before = report.tracks
        for path in [f"{bone}.{track}" for bone in bones] if bones else [track]:
            with errors_in(report):
                result = work(datablock, path)
                report.tracks += 1
                report.changed_keys += keys
                if result is not None:
                    report.looks_of(result)
        if report.tracks > tracks_before:
            report.add(Report.on([datablock]))
    return report
