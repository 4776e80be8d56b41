# SPDX-License-Identifier: GPL-3.0-or-later
"""Fix Rotations: give keys at which a rotation flips or jumps equivalent values.

The pose at every key is preserved. Fix Rotations works on plain and TCB tracks, and on actions that are not played. See
`interp/rotations/equivalent.py` for the mathematics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import bpy

from ..arguments import checked
from ..bake.pipeline import rebake
from ..bake.recreated_channels import place_automatic
from ..fcurves.channels import Channels, evaluate_anew
from ..fcurves.keyframes import PAIRS, BoolArray, Float64Array, Keyframes
from ..fcurves.linked_data import check_editable, editable_channels
from ..fcurves.read_keys import read
from ..fcurves.write_keys import write
from ..many import on_each
from ..options import FIX_ROTATIONS
from ..report import Report
from .free_and_restore import restore_if_played
from .rotation_faults import ExaminedTrack, Turns, channels_and_owners, examine


@checked
def fix_rotations(
    datablock: bpy.types.ID, prefixes: Iterable[str] | None = None, turns: Turns = FIX_ROTATIONS["turns"].default
) -> Report:
    """Replace the values of keys at which a rotation flips or jumps, so that the motion takes the shortest path.

    The pose at every key is preserved, except for float32 rounding. Handles move with their keys. F-curves without a
    fault are unchanged, bit for bit. The handles of TCB tracks are updated. Baked tracks are not repaired.

    Parameters
    ----------
    datablock : bpy.types.ID
        A datablock with animation, or an action. All rotations in all slots of an action are repaired, even if they are
        not played. For an action without users, the Euler order is unknown, so only signs and whole turns are repaired.
    prefixes : iterable of str, optional
        Repair only tracks whose paths start with one of the prefixes.
    turns : {"KEEP", "SHORTEST"}
        The rule for Euler or axis-angle rotations that turn by more than 180 degrees between two keys. Such a turn may
        be an intended spin or an unwanted jump by a whole turn. The keys are the same in both cases, and a lost spin
        can't be recovered. KEEP therefore repairs only jumps within one frame. SHORTEST makes all rotations take the
        shortest path.

    Returns
    -------
    Report
        Counts of repaired tracks and their keys. `changed_keys` is the number of changed keys. `notes` lists the
        repaired faults and the faults that were left unchanged. `errors` lists the faults that could not be repaired.

    Raises
    ------
    AnimationError
        No track can be edited. Nothing was changed.

    Examples
    --------
    >>> for fcurve in animation.find_track(ball, "rotation").channels.values():
    ...     fcurve.keyframe_points[1].co.y += 6.283185
    >>> [fault.kind for fault in animation.find_rotation_faults(ball)]
    ['TURN']
    >>> animation.fix_rotations(ball, turns="SHORTEST").changed_keys
    1
    """
    report = Report()
    for channels, owners in channels_and_owners(datablock, check_editable):
        examined_tracks = list(examine(channels, owners, prefixes, turns))
        if channels.action.library is not None and any(examined.to_repair.any() for examined in examined_tracks):
            # A library override gets a local copy of its linked action.
            channels, owners = editable_channels(datablock, report.notes), [datablock]
            examined_tracks = list(examine(channels, owners, prefixes, turns))
        tracks_before = report.tracks
        for examined in examined_tracks:
            report.errors += [fault.reason for fault in examined.faults if fault.reason][:1]
            report.notes += [
                examined.track.finding("REPAIRED", fault.finding.on("")) if fault.repairable else fault.finding
                for fault in examined.faults
                if not fault.reason
            ]
            if examined.to_repair.any():
                report.add(_repair(channels, owners, examined))
                report.tracks += 1
                report.keys += len(examined.to_repair)
                report.changed_keys += int(examined.to_repair.sum())
        if report.tracks > tracks_before:
            report.add(Report.on(owners))
            evaluate_anew(channels.action)
    return report


fix_rotations_many = on_each(fix_rotations)


def _repair(channels: Channels, owners: Sequence[bpy.types.ID], examined: ExaminedTrack) -> Report:
    """Write equivalent values into keys and handles. Update the track if it is played by handles."""
    track, changed = examined.track, examined.maps.changed
    bake_options = track.settings.options
    restore_if_played(channels, track)
    for column, index in enumerate(examined.indices):
        fcurve, rows = track.channels[index], changed[:, column]
        if not rows.any():
            continue
        factors, terms = examined.maps.factors[rows, column], examined.maps.terms[rows, column]
        keys = read(fcurve)
        write(fcurve, _mapped(keys, rows, factors, terms))
        place_automatic(fcurve, keys.frames)
    if bake_options is None:
        return Report()
    report = rebake(owners, channels, [track], bake_options)
    return Report(errors=report.errors, notes=report.notes)


def _mapped(keys: Keyframes, rows: BoolArray, factors: Float64Array, terms: Float64Array) -> Keyframes:
    """Return the keys, with the values and handles of the given rows scaled and shifted."""
    coordinates = {name: getattr(keys, name).copy() for name in PAIRS}
    for array in coordinates.values():
        array[rows, 1] = factors * array[rows, 1] + terms
    return keys.with_(**coordinates)
