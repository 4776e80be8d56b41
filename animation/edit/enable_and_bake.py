# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable and bake in one step. Tracks that can't be baked stay plain."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from contextlib import suppress

import bpy

from ...interp.rotations.orientations import Path
from ..arguments import NotNegative, checked
from ..bake.pipeline import bake_steps
from ..errors import AnimationError
from ..report import Report
from ..steps import Progress, run_steps
from ..store.action_and_strips import editable_sets
from ..store.table.stored_bake_options import Options
from ..store.tracks import Track, find_tracks
from .apply_and_remove import remove_tracks
from .enable import MAX_CHANGE, enable_many

_Selected = Mapping[bpy.types.ID, Iterable[str] | None]


@checked
def enable_and_bake(
    selected: _Selected,
    plain: _Selected,
    options: Options,
    keep_look: bool = False,
    progress: Progress | None = None,
    max_change: tuple[NotNegative, NotNegative] = MAX_CHANGE,
    path: Path | None = None,
) -> Report:
    """Convert the tracks of `plain` to TCB, and bake the tracks of `selected`. Tracks that can't be baked stay plain.

    Parameters
    ----------
    selected, plain : mapping of bpy.types.ID to iterable of str, or None
        Path prefixes of the tracks, by datablock. If None, all tracks are included.
    options : Options
        Options of the bake.
    keep_look : bool
        See `enable_many`.
    progress : callable, optional
        Called with the number of finished tracks and the total number of tracks.
    max_change : (float, float)
        See `enable_many`.
    path : {"SHORTEST", "AS_KEYED"}, optional
        See `enable_many`.

    Returns
    -------
    Report
        The report of the bake, including figures on how well the motion is preserved.

    Examples
    --------
    >>> options = animation.Options(output="HANDLES")
    >>> report = animation.enable_and_bake({ball: None, rig: None}, {rig: None}, options, keep_look=True)
    >>> report.tracks, report.looks_kept
    (3, 1)
    """
    before = {place for datablock in plain for place, track in _tracks(datablock) if track.enabled}
    kept = enable_many(plain, None, keep_look, options.defaults, max_change, path)
    only = {datablock: list(prefixes) for datablock, prefixes in selected.items() if prefixes is not None}
    try:
        report = run_steps(bake_steps(selected, options, only), progress, finishes=True)
    finally:
        _remove_unbaked(plain, before)
    # Omit errors that the bake reports too.
    said = {(error.object, error.track) for error in report.errors}
    report.errors += [error for error in kept.errors if (error.object, error.track) not in said]
    report.looks_of(kept)
    faults = {(error.object, error.track) for error in report.errors if error.track}
    report.notes = [note for note in dict.fromkeys(report.notes) if (note.object, note.track) not in faults]
    return report


def _remove_unbaked(plain: Iterable[bpy.types.ID], before: Set[tuple[Hashable, str]]) -> None:
    """Make tracks plain again unless they were TCB `before` or are now played by the bake."""
    for datablock in plain:
        for place, track in _tracks(datablock):
            if track.enabled and not track.is_played and place not in before:
                with suppress(AnimationError):
                    remove_tracks(datablock, [track.path], place[0])


def _tracks(datablock: bpy.types.ID) -> list[tuple[tuple[Hashable, str], Track]]:
    """Return the tracks in all of the datablock's sets of F-curves, each with an identifier."""
    try:
        sets = editable_sets(datablock).sets
    except AnimationError:
        return []
    return [((channels.identity, track.path), track) for channels in sets for track in find_tracks(datablock, channels)]
