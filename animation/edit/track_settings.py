# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the settings of a track: its method, cycle, end segments, algorithm and turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import bpy

from ...interp.rotations.base_rotation_spline import Path
from ..arguments import checked
from ..fcurves.channels import check_editable, editable_channels, evaluate_anew
from ..many import on_each
from ..report import AnimationError, Report
from ..store.read_own_keys import key_frames
from ..store.table.custom_property import update
from ..store.tracks import spline_class_of
from .enable import enable_listed
from .keys import bake_again, with_own_keys
from .track_keys import check_writable, find_track


@checked
def choose(datablock: bpy.types.ID, track: str, **choices: str) -> Report:
    """Change settings of a track. A plain track becomes TCB.

    A baked track is rebaked. For other tracks, the settings take effect at the next update. The keys of a plain track
    get the parameters that preserve the motion, as in `enable` with the same `path`.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    track : str
        Path of the track, as for `find_track`.
    **choices : str
        Settings, with the same identifiers as in `bpy.ops.tcb.track_choose`. All tracks have `method`, and `cycle` for
        the motion outside the keys. Rotations also have `ends`, the TCB method's rule for the first and last keys, and
        `construction`, the formulas between keys. `path` specifies whether rotations take the shortest path. `angles`
        is the method for the angles of ROLL_PITCH_YAW. Settings that do not apply to the track or method are stored but
        have no effect.

    Returns
    -------
    Report
        Counts. For a plain track, also the changes to the preserved motion, and notes, as in `enable`.

    Raises
    ------
    AnimationError
        There is no such track, the track can't be changed, or it does not support the method. Nothing was changed.
    ValueError
        A setting or option does not exist.

    Examples
    --------
    >>> report = animation.choose(ball, "rotation", path="SHORTEST")
    >>> report.tracks, report.keys, report.looks_kept
    (1, 3, 1)
    >>> report = animation.choose(ball, "location", method="CATMULL_ROM", cycle="LOOP")
    >>> animation.choose(ball, "location", cycle="TWICE")
    Traceback (most recent call last):
    ValueError: cycle 'TWICE' is not one of SINGLE, REPEAT, LOOP
    """
    return choose_settings(datablock, track, choices)


# Type checkers assume that `choices` may contain `datablock`.
choose_many = on_each(choose, '[ball], "location", cycle="LOOP"')  # type: ignore[arg-type]


def choose_settings(
    datablock: bpy.types.ID, name: str, choices: Mapping[str, str], defaults: Mapping[str, float] | None = None
) -> Report:
    """Change settings of a track (see `choose`).

    For a plain track, `defaults` contains the parameters that later bakes will use for keys that have none of their
    own. The fit of its parameters takes them into account.
    """
    check_editable(datablock)
    track = find_track(datablock, name)
    settings = track.settings.with_choices(choices)
    # Raise errors before anything is changed.
    spline_class_of(track, settings)
    if track.is_baked:
        check_writable(datablock, track)
    report = Report.on([datablock], tracks=1)
    if not track.enabled:
        # Parameters are fitted to the same turns for both choices that keep turns.
        path: Path = "SHORTEST" if settings.path == "SHORTEST" else "AS_KEYED"
        report = enable_listed({datablock: [track]}, defaults, path if "path" in choices else None)
        if report.errors:
            raise AnimationError(*report.errors)
    channels = editable_channels(datablock)
    # The action may have been copied, and Enable may have chosen other settings.
    track = find_track(datablock, track.path)
    previous_state = track.state
    assert previous_state is not None
    track.state = replace(previous_state, settings=previous_state.settings.with_choices(choices))
    report.keys = len(key_frames(track))
    if track.is_baked:
        # Discard the records of handles, which were made with the previous settings.
        track.state = with_own_keys(track, {})
    track.table = update(channels.action, states=[track.state])
    if track.is_baked:
        bake_again(channels, [track], [previous_state])
    evaluate_anew(channels.action)
    return report
