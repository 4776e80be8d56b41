# SPDX-License-Identifier: GPL-3.0-or-later
"""Write bakes: channels, handles, locks and table entries of all jobs, and the report of the bake."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import bpy
import numpy as np

from ..datablocks import name_of
from ..errors import AnimationError, Finding, size_of
from ..fcurves import scratch_curves
from ..fcurves.channels import evaluate_anew
from ..fcurves.cycles_modifier import repeat
from ..fcurves.frames import matching_rows
from ..fcurves.joined_keys import Joined
from ..fcurves.keyframes import FLAGS, PAIRS, SIDES, BoolArray, IndexArray, Keyframes
from ..fcurves.read_keys import read_joined
from ..fcurves.write_keys import extrapolate, write_joined, write_some
from ..report import HandleError, Report, handle_error
from ..store.edited_outside import fingerprints
from ..store.own_curves import saved_keys
from ..store.own_keys import NO_OWN_KEYS, OwnKeys, own_end_to_end
from ..store.paths import remove_strays
from ..store.record_rows import as_written
from ..store.table.custom_property import update
from ..store.table.track_records import (
    Bake,
    BakedChannel,
    Channel,
    Error,
    Extrapolation,
    SavedKeys,
    TrackState,
    Written,
)
from ..store.tracks import Track
from ..store.up_to_date import digest
from .keyframes_to_write import alike, baked_keys, differing, played_keys, with_identities
from .locks import lock, lock_groups
from .plans.composed_keys import ChannelKeys, HandleKeys, stacked
from .put_back import free_tracks, remove_made
from .track_bake import TrackBake
from .tracks_to_bake import BakeJob
from .world_space_samples import WorldMotion, depth

_PLAYED = ("co", *SIDES, "interpolation", "type", "back", "amplitude", "period")
"""Attributes to write if curves already have as many linear keys as the bake."""


def write_bakes(members: Sequence[TrackBake]) -> list[TrackState]:
    """Write the baked keys of tracks and lock their channels. Return the table entries of the tracks."""
    # Blender compares each new F-curve with all other F-curves. This is fastest before other data fill the processor's
    # cache.
    for member in members:
        _make_curves(member)
    for group in alike([(keys.layout, member, keys) for member in members for keys in member.baked.channel_keys]):
        _write_group(group)
    for member in members:
        for keys in member.baked.channel_keys:
            for index in keys.components:
                # Otherwise, an update in Blender would move the handles, and Live would bake the track again.
                # `FCurve.update` would take twice as long. Inside the loop over groups, Blender's threads would wait
                # for work.
                member.track.channels[index].keyframe_points.handles_recalc()
    return [_table_entry(member) for member in members]


def _table_entry(member: TrackBake) -> TrackState:
    """Return the table entry of a track whose keys have been written."""
    track, state = member.track, member.state
    settings = replace(member.settings, digest=digest(track, member.settings, member.own, member.function))
    # Free Bake must return to the state before the first bake.
    before = state.bake or state.settings
    bake = Bake(dict(sorted(member.written.items())), before.digest, before.options)
    handle_records = state.channels if member.may_keep_records else {}
    return TrackState(state.identity, track.slot, track.path, settings, handle_records, state.error, bake)


def _make_curves(member: TrackBake) -> None:
    """Create the F-curves that the bake needs, and remove unused F-curves created by an earlier bake."""
    track, channels = member.track, member.channels
    needed = {index for keys in member.baked.channel_keys for index in keys.components}
    for index in track.made.keys() - needed:
        if index in track.channels:
            remove_made(channels, track, index)
    for index in sorted(needed - track.channels.keys()):
        track.channels[index] = channels.new(track.path, index, track.group)


def _write_group(members: Sequence[tuple[TrackBake, ChannelKeys]]) -> None:
    """Write the keys of channels with the same layout, lock the channels, and record them."""
    keys = stacked([channel_keys for _, channel_keys in members])
    channels = [(member, index) for member, channel_keys in members for index in channel_keys.components]
    own_keys = own_end_to_end([member.own.get(index, NO_OWN_KEYS) for member, index in channels])
    composed = _composed(own_keys, keys)
    curves = [member.track.channels[index] for member, index in channels]
    records_before = [member.baked_before(index) for member, index in channels]
    own_extrapolations = [member.track.extrapolation(index) for member, index in channels]
    holds_outside = keys.holds_outside
    extrapolations: list[Extrapolation] = ["CONSTANT" if holds_outside else own for own in own_extrapolations]
    is_repeated = []
    for fcurve, extrapolation, before in zip(curves, extrapolations, records_before, strict=True):
        extrapolate(fcurve, extrapolation)
        was_repeated = repeat(fcurve, wanted=False)
        is_repeated.append(was_repeated if before is None else before.repeats)
    size = len(keys.frames)
    if keys.incoming is None and holds_outside and all(len(fcurve.keyframe_points) == size for fcurve in curves):
        every_curve = np.ones(len(curves), dtype=np.bool_)
        write_some(curves, composed.keys, dict.fromkeys(_PLAYED, every_curve))
    else:
        _keep_selection([member.state.bake is not None for member, _ in channels], curves, composed, keys.rows)
        write_joined(curves, composed)
    lock(curves)
    prints = fingerprints(composed, extrapolations)
    saved = _saved(members, own_keys, len(keys.rows))
    for (member, index), before, saved_channel, extrapolation, repeats, fingerprint in zip(
        channels, records_before, saved, own_extrapolations, is_repeated, prints, strict=True
    ):
        track = member.track
        # The value that remains when Free Bake removes a channel that the bake has created.
        rest = None if index in member.own else track.made.get(index, track.rest[index])
        is_edited = before is not None and before.edited
        member.written[index] = BakedChannel(saved_channel, extrapolation, rest, repeats, fingerprint, is_edited)


def _composed(own_keys: OwnKeys, keys: ChannelKeys) -> Joined:
    """Return the keys to write in each channel."""
    count = len(keys.components)
    identified = with_identities(own_keys, ~keys.gaps) if len(keys.rows) else own_keys.keys
    return Joined(baked_keys(Joined(identified, [len(keys.rows)] * count), keys), [len(keys.frames)] * count)


def _saved(members: Sequence[tuple[TrackBake, ChannelKeys]], own: OwnKeys, count: int) -> list[SavedKeys]:
    """Return the animator's keys for each channel (`count` per channel), in the form that Free Bake restores."""
    # If handles play the track, the records refer to the keys as read from the curves.
    as_read = own.as_read if any(member.may_keep_records for member, _ in members) else None
    saved_as_own = saved_keys(own.keys)
    saved_as_read = saved_as_own if as_read is None else saved_keys(as_read)
    result, start = [], 0
    for member, keys in members:
        saved = saved_as_read if member.may_keep_records else saved_as_own
        for index in keys.components:
            before = member.baked_before(index)
            result.append(before.keys if before is not None and member.is_settled else saved[start : start + count])
            start += count
    return result


def _keep_selection(
    are_baked: Sequence[bool], curves: Sequence[bpy.types.FCurve], composed: Joined, rows: IndexArray
) -> None:
    """Copy the curves' current selection to the animator's keys, because the saved selection is from the first bake."""
    baked_curves = [number for number, is_baked in enumerate(are_baked) if is_baked]
    if not baked_curves or not len(rows):
        return
    shown = read_joined([curves[number] for number in baked_curves], ("co", *FLAGS))
    for number, keys_before in zip(baked_curves, shown.channels, strict=True):
        own_rows = composed.spans[number].start + rows
        rows_kept, rows_before = matching_rows(composed.keys.frames[own_rows], keys_before.frames)
        for name in FLAGS:
            getattr(composed.keys, name)[own_rows[rows_kept]] = getattr(keys_before, name)[rows_before]


_ROUNDED = 1e-6
"""Relative rounding error of handles placed by Blender."""


def write_handles(members: Sequence[TrackBake]) -> list[TrackState]:
    """Write the animator's keys on each track, with the handles that play the track.

    Return the table entries of the tracks.
    """
    for member in members:
        track = member.track
        for index in sorted(member.own.keys() - track.channels.keys()):
            track.channels[index] = member.channels.new(track.path, index, track.group)
    keys_by_layout = []
    for member in members:
        for handle_keys in member.baked.handle_keys:
            own = member.own[handle_keys.components[0]]
            # The channels of a group are stacked, so they need keys at the same frames, and all have been read from
            # F-curves or none.
            layout = own.timing, own.as_read is None, *handle_keys.layout
            keys_by_layout.append((layout, member, handle_keys))
    for group in alike(keys_by_layout):
        _write_handles_group(group)
    return [_handles_table_entry(member) for member in members]


def _handles_table_entry(member: TrackBake) -> TrackState:
    """Return the table entry of a track whose handles have been written."""
    track, state, baked = member.track, member.state, member.baked
    settings = replace(member.settings, digest=digest(track, member.settings, member.own, member.function))
    error = Error(baked.error, baked.error_frame, baked.is_approximate)
    # Use the order of the animator's keys, so that repeating the bake creates the same table.
    records = {index: member.placed[index] for index in member.own}
    return TrackState(state.identity, track.slot, track.path, settings, records, error)


def _write_handles_group(members: Sequence[tuple[TrackBake, HandleKeys]]) -> None:
    """Write the keys of channels with the same layout, and record their handles."""
    keys = stacked([handle_keys for _, handle_keys in members])
    channels = [(member, index) for member, handle_keys in members for index in handle_keys.components]
    own_by_channel = [member.own[index] for member, index in channels]
    own_keys, count = own_end_to_end(own_by_channel), own_by_channel[0].count
    curves = [member.track.channels[index] for member, index in channels]
    extrapolations = [member.track.extrapolation(index) for member, index in channels]
    is_linear = np.array([extrapolation == "LINEAR" for extrapolation in extrapolations])
    keeps_last_interpolation = own_keys.ends_spline[count - 1 :: count]
    identified = Joined(with_identities(own_keys, keys.plays), [count] * len(channels))
    composed, placed = played_keys(identified, keys, keeps_last_interpolation, is_linear)
    is_updated = np.array(
        [extrapolate(fcurve, extrapolation) for fcurve, extrapolation in zip(curves, extrapolations, strict=True)]
    )
    if own_keys.as_read is None:
        write_joined(curves, Joined(composed, [count] * len(channels)))
    else:
        _write_changes(curves, composed, own_keys.as_read, is_updated)
    for fcurve in curves:
        repeat(fcurve, keys.repeats)
    records = as_written(composed, own_keys, placed)
    if keys.chosen is not None:
        for fcurve, written in zip(curves, records, strict=True):
            _let_blender_place(fcurve, written)
    for (member, index), extrapolation, written in zip(channels, extrapolations, records, strict=True):
        member.placed[index] = _channel_record(member, index, extrapolation, written)


def _write_changes(
    curves: Sequence[bpy.types.FCurve], composed: Keyframes, as_read: Keyframes, is_updated: BoolArray
) -> None:
    """Write the attributes that differ from the keys as read, because others may not have been read.

    `is_updated` is a mask of the curves whose extrapolation has changed.
    """
    to_write = differing(composed, as_read, len(curves))
    if is_updated.any():
        # When the extrapolation changes, Blender updates the curve, which may move its handles.
        for name in PAIRS:
            to_write[name] = to_write.get(name, is_updated) | is_updated
    write_some(curves, composed, to_write)


def _channel_record(member: TrackBake, index: int, extrapolation: Extrapolation, written: Written) -> Channel:
    """Return the record of a channel's written keys."""
    before = member.state.channels.get(index)
    # If `edited` is true, a restore updates automatic handles, as Blender does when the extrapolation changes.
    is_edited = before is not None and (before.edited or before.extrapolation != extrapolation)
    return Channel(extrapolation, member.own[index].edited or is_edited, written)


def _let_blender_place(fcurve: bpy.types.FCurve, written: Written) -> None:
    """Make Blender place the handles whose type the animator chose, and record their positions."""
    fcurve.update()
    keys = read_joined([fcurve], SIDES).keys
    for side in SIDES:
        placed, before = getattr(keys, side), written[side]
        # Aligning handles again would round them, but repeated bakes must produce the same bits.
        is_moved = (np.abs(placed - before) > _ROUNDED * (1.0 + np.abs(before))).any(axis=1)
        written[side][is_moved] = placed[is_moved]
        # Also write the bits of the handles that Blender only rounded.
        fcurve.keyframe_points.foreach_set(side, written[side].ravel())


_PRECISION = 4.0 * float(np.finfo(np.float32).eps)
"""Error due to float32 rounding, relative to the largest value of a track, or in radians for a rotation."""


def count_track(report: Report, bake: TrackBake) -> None:
    """Add a track's figures to the report, and the notes that stay valid until the track changes."""
    track = bake.track
    report.tracks += 1
    report.keys += len(bake.key_frames)
    if bake.baked.is_by_handles:
        report.handles.append(_handle_error(bake))
    else:
        report.samples += bake.baked.samples
        report.curve_keys += bake.baked.curve_keys
    is_exact = not bake.baked.error or bake.baked.error <= _PRECISION * (1.0 if track.is_rotation else _largest(bake))
    if track.is_rotation:
        report.rotation_error = max(report.rotation_error, bake.baked.error)
        report.rotations_exact &= is_exact
    else:
        report.value_error = max(report.value_error, bake.baked.error)
        report.values_exact &= is_exact
    report.notes += [*bake.baked.notes, *_modifier_notes(track)]


def _largest(bake: TrackBake) -> float:
    """Return the largest absolute value of the animator's keys."""
    return max(abs(end) for ends in _value_ranges(bake) for end in ends)


def _value_ranges(bake: TrackBake) -> list[tuple[float, float]]:
    """Return the lowest and the highest value of the animator's keys in each channel."""
    channels = [own.values for own in bake.own.values()]
    return [(float(np.minimum.reduce(values)), float(np.maximum.reduce(values))) for values in channels]


def _modifier_notes(track: Track) -> list[Finding]:
    """Return one note per type of F-curve modifier that acts on the track."""
    components: dict[str, list[str]] = {}
    for fcurve in [fcurve for fcurve in track.channels.values() if len(fcurve.modifiers)]:
        for kind in sorted(_acting_modifiers(fcurve) - {"CYCLES"}):
            components.setdefault(kind, []).append(str(fcurve.array_index))
    return [track.finding("MODIFIERS", kind, ", ".join(indices)) for kind, indices in components.items()]


def _acting_modifiers(fcurve: bpy.types.FCurve) -> set[str]:
    """Return the types of the modifiers that are not muted."""
    return {modifier.type for modifier in fcurve.modifiers if not modifier.mute}


def _handle_error(bake: TrackBake) -> HandleError:
    track, baked = bake.track, bake.baked
    return handle_error(
        track.name,
        track.path,
        baked.error,
        baked.error_frame,
        0.0 if track.is_rotation else max(high - low for low, high in _value_ranges(bake)),
        is_rotation=track.is_rotation,
        is_approximate=baked.is_approximate,
    )


def note_of_one_bake(report: Report, bake: TrackBake) -> None:
    """Add notes that only a manual bake reports.

    The Live option updates keys continually. While Live is on, the track list shows the error of the handles instead of
    a note.
    """
    if bake.baked.is_approximate:
        error = size_of(bake.baked.error, bake.track.is_rotation)
        report.notes.append(bake.track.finding("HANDLES_APPROXIMATE", error, round(bake.baked.error_frame, 2)))
    linear = _linear_components(bake)
    if linear and _is_held(bake, linear):
        report.notes.append(bake.track.finding("HELD_OUTSIDE"))
    if linear and _has_other_slope_outside(bake, linear):
        report.notes.append(bake.track.finding("OTHER_SLOPE_OUTSIDE"))


def _linear_components(bake: TrackBake) -> set[int]:
    """Return the components that Blender would extrapolate linearly without the bake."""
    track = bake.track
    if bake.settings.cycle != "SINGLE" or bake.function is not None:
        return set()
    linear = [index for index in bake.own if track.extrapolation(index) == "LINEAR"]
    return {index for index in linear if not _acting_modifiers(track.channels[index])}


def _has_other_slope_outside(bake: TrackBake, linear: Set[int]) -> bool:
    """Return whether any of the components is extrapolated from baked keys."""
    channels = [keys for keys in bake.baked.channel_keys if not keys.holds_outside]
    return any(
        index in linear for keys in channels if not (keys.gaps[0] and keys.gaps[-2]) for index in keys.components
    )


def _is_held(bake: TrackBake, linear: Set[int]) -> bool:
    """Return whether the bake holds the end values of any of the components, which would change outside their keys."""
    if bake.options.extend:
        return False
    held = [index for keys in bake.baked.channel_keys if keys.holds_outside for index in keys.components]
    for own in [bake.own[index] for index in held if index in linear]:
        ends = own.keys.take(np.array([0, -1]))
        outside = ends.frames + np.array([-1.0, 1.0], dtype=np.float32)
        if (scratch_curves.evaluate(own.keys, own.edited, "LINEAR", outside) != ends.values).any():
            return True
    return False


def _has_useless_extension(job: BakeJob) -> bool:
    """Return whether the bake should extend beyond the keys, but no track moves there."""
    was_requested = False
    for bake in job.tracks:
        if bake.options.extend is None or bake.baked.is_by_handles:
            continue
        first, last = float(bake.key_frames[0]), float(bake.key_frames[-1])
        low, high = bake.options.extend
        was_requested |= low < first or high > last
        if any(keys.frames[0] < first or keys.frames[-1] > last for keys in bake.baked.channel_keys):
            return False
    return was_requested


def write_in_place(jobs: Sequence[BakeJob]) -> list[Report]:
    """Write the channels of each job. Return one report per job."""
    reports = [Report.on(job.datablocks) for job in jobs]
    for job, report in zip(jobs, reports, strict=True):
        report.notes += job.notes
        remove_strays(job.channels)
    write_tracks(jobs, reports)
    with scratch_curves.shared_action():
        for job, report in zip(jobs, reports, strict=True):
            for bake in job.tracks:
                note_of_one_bake(report, bake)
            if _has_useless_extension(job):
                report.notes.append(Finding("NOT_EXTENDED", name_of(job.datablocks[0])))
    for job in jobs:
        evaluate_anew(job.channels.action)
    return reports


def write_tracks(jobs: Sequence[BakeJob], reports: Sequence[Report]) -> None:
    """Write the channels and the table entries of all tracks.

    All jobs are written together, because a call for many tracks takes about as long as a call for one. Tracks baked in
    world space are written last, so a job with such tracks should be written separately.
    """
    bakes = [bake for job in jobs for bake in job.tracks]
    by_handles = [bake for bake in bakes if bake.baked.is_by_handles]
    in_own_space = [bake for bake in bakes if not bake.baked.is_by_handles and not bake.options.in_world]
    for job in jobs:
        baked_before = [bake.track for bake in job.tracks if bake.baked.is_by_handles and bake.track.is_baked]
        free_tracks(job.channels, baked_before)
    states = dict(zip(by_handles, write_handles(by_handles), strict=True))
    states |= zip(in_own_space, write_bakes(in_own_space), strict=True)
    for job, report in zip(jobs, reports, strict=True):
        in_world = [bake for bake in job.tracks if bake not in states]
        for bake in sorted(in_world, key=lambda bake: depth(job.datablocks[0], bake.track)):
            # Write one track at a time, because children depend on the new motion of their parents.
            try:
                bake.baked = WorldMotion(job.datablocks[0], bake.track, bake.own, bake.options).baked()
            except AnimationError as error:
                report.errors += error.findings
            else:
                (states[bake],) = write_bakes([bake])
        written = [bake for bake in job.tracks if bake in states]
        for bake in written:
            bake.track.state = states[bake]
            count_track(report, bake)
        table = update(job.channels.action, job.rows, [states[bake] for bake in written])
        for bake in job.tracks:
            bake.track.table = table
        if not all(bake.baked.is_by_handles for bake in written):
            lock_groups(job.channels, table)
