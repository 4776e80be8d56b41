# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake one datablock or several: enable plain tracks, bake the TCB tracks, and report both steps together."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import bpy

from ...interp.rotations.base_rotation_spline import Path
from ..arguments import Count, FrameRange, NotNegative, Parameters, Positive, checked
from ..bake.pipeline import bake as bake_selected
from ..bake.tracks_to_bake import plain_among
from ..many import Datablocks, by_datablock
from ..options import BAKE, ENABLE
from ..report import AnimationError, Report
from ..steps import Progress
from ..store.record_keys import TrackToEnable
from ..store.table.custom_property import read_table
from ..store.table.track_records import Options, Output
from .enable import enable_tracks_of
from .free_restore_apply_remove import remove_tracks
from .preserve_motion import MAX_CHANGE


@checked
def bake(  # noqa: PLR0913
    datablock: bpy.types.ID,
    *,
    output: Output = BAKE["output"].default,
    step: Positive = BAKE["step"].default,
    extend: FrameRange | None = None,
    sample_limit: Count = BAKE["sample_limit"].default,
    defaults: Parameters | None = None,
    prefixes: Iterable[str] | None = None,
    keep_look: bool = ENABLE["keep_look"].default,
    value_tolerance: Positive | None = None,
    rotation_tolerance: Positive = BAKE["rotation_tolerance"].default,
    progress: Progress | None = None,
) -> Report:
    """Bake the TCB tracks of the datablock. If none of its chosen tracks is TCB, enable and bake all of them.

    Plain tracks that can't be baked stay plain.

    If the datablock has no action of its own, or is in tweak mode, the actions of its NLA strips are baked. Each action
    is baked once, in action time.

    Parameters
    ----------
    datablock : bpy.types.ID
        Any datablock with its own animation, for example an object, a camera or a node tree.
    output : {"SAMPLES", "CURVES", "HANDLES"}
        SAMPLES writes a linear key every `step` frames. CURVES writes the fewest Bezier keys that reproduce the motion
        within the tolerances, including between frames. Tracks with a frame function are baked as samples instead, and
        a note reports this. SAMPLES and CURVES lock the channels, and `free` restores the animator's keys. HANDLES
        generates no keys. The handles of the animator's keys approximate the motion. A track that is already baked is
        freed first.
    step : float
        Interval between samples in frames, which may be less than 1.
    extend : (float, float), optional
        First and last frames of a range that extends the bake beyond the keys, for cycles and linear extrapolation.
    sample_limit : int
        Maximum number of samples. If more samples would be needed, nothing is baked.
    defaults : mapping, optional
        Parameters by name, for keys that have none of their own.
    prefixes : iterable of str, optional
        Bake only tracks whose paths start with one of the prefixes, for example 'location' or 'pose.bones["Arm"]'.
    keep_look : bool
        If true, fit the parameters of plain tracks to the current motion (see `enable`). If false, their keys get
        the default parameters (0 or `defaults`), which changes the motion.
    value_tolerance : float, optional
        Maximum error of curves and handles, in the property's units. A note reports handles with a larger error.
        Default: 1e-4 of the range of the track's keys.
    rotation_tolerance : float
        Maximum error in rotations, in radians. Default: 0.01 degree.
    progress : callable, optional
        Called with the number of baked tracks and the total number of tracks to bake, after plain tracks have been
        enabled. If `progress` raises an exception, the bake is completed before the exception is raised again.

    Returns
    -------
    Report
        Counts, errors, and notes on tracks that were not baked.

    Raises
    ------
    AnimationError
        Nothing was baked. The error message names the track, the key and the reason.
    TypeError, ValueError
        An argument has the wrong type or an invalid value. The error message names the argument.

    Examples
    --------
    >>> report = animation.bake(ball, step=0.5)
    >>> report.tracks, report.keys, report.samples
    (2, 6, 456)
    >>> bpy.context.scene.frame_set(30)
    >>> round(ball.location.x, 3)
    6.77
    >>> animation.bake(ball, output="HANDLES").samples  # no generated keys are left
    0
    """
    options = Options(
        step=step,
        extend=extend,
        sample_limit=sample_limit,
        defaults=defaults or {},
        output=output,
        value_tolerance=value_tolerance,
        rotation_tolerance=rotation_tolerance,
    )
    report = bake_many([datablock], options, prefixes, keep_look, progress=progress)
    if report.errors and not report.tracks:
        raise AnimationError(*report.errors)
    return report


@checked
def bake_many(
    datablocks: Datablocks,
    options: Options | None = None,
    prefixes: Iterable[str] | None = None,
    keep_look: bool = ENABLE["keep_look"].default,
    max_change: tuple[NotNegative, NotNegative] = MAX_CHANGE,
    path: Path | None = None,
    enable: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Bake the TCB tracks of several datablocks (see `bake`).

    Parameters
    ----------
    datablocks : iterable of bpy.types.ID
        The datablocks, or a mapping from each datablock to its prefixes. Datablocks that share an action and slot are
        baked once.
    options : Options, optional
        Options of the bake. Default: the defaults of `bake`.
    prefixes : iterable of str, optional
        See `bake`.
    keep_look : bool
        See `bake`.
    max_change : (float, float)
        See `enable`.
    path : {"SHORTEST", "AS_KEYED"}, optional
        See `enable`.
    enable : bool
        Also enable and bake the plain tracks of datablocks that have TCB tracks. Tracks that can't be made TCB, such
        as locked tracks, are then errors instead of notes.
    progress : callable, optional
        See `bake`.

    Returns
    -------
    Report
        Tracks that can't be baked are not changed, and are listed in `errors` with the key. All other tracks are baked.
        For tracks enabled by this function, the report includes the changes to the preserved motion.

    Raises
    ------
    TypeError, ValueError
        An argument has the wrong type or an invalid value. The error message names the argument.

    Examples
    --------
    >>> report = animation.bake_many([ball, rig], animation.Options(output="HANDLES"))
    >>> report.objects, report.tracks, report.errors
    (2, 3, [])
    """
    selected = by_datablock(datablocks, prefixes)
    options = Options() if options is None else options
    prefixes_of = {datablock: starts for datablock, starts in selected.items() if starts is not None}
    # With default parameters, baking plain tracks directly is faster than enabling the tracks first.
    to_enable = selected if enable else plain_among(selected) if keep_look or path is not None else {}
    enabled = Report()
    enabled_tracks = enable_tracks_of(to_enable, keep_look, options.defaults, max_change, path, enabled, enable)
    try:
        report = bake_selected(selected, options, prefixes_of, progress)
    finally:
        _remove_unbaked(enabled_tracks)
    # Omit errors that the bake reports too.
    baked_errors = {(error.object, error.track) for error in report.errors}
    report.errors += [error for error in enabled.errors if (error.object, error.track) not in baked_errors]
    report.looks_of(enabled)
    faults = {(error.object, error.track) for error in report.errors if error.track}
    report.notes = [note for note in dict.fromkeys(report.notes) if (note.object, note.track) not in faults]
    return report


def _remove_unbaked(enabled_tracks: Iterable[TrackToEnable]) -> None:
    """Make tracks plain again unless the bake plays them."""
    for each in enabled_tracks:
        track, channels = each.track, each.channels
        assert track.datablock is not None
        state = read_table(channels.action).state(channels.slot_handle, track.path)
        if state is not None and state.settings.options is None:
            with suppress(AnimationError):
                remove_tracks(track.datablock, [track.path], only=channels.identity)
