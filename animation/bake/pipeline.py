# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: from the animator's keys to F-curves that any Blender plays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import bpy

from ...interp import KeysError, evaluate_many
from ...interp.fitting import fit_many
from ...words import n_, rpt_, told
from ..datablocks import name_of
from ..edit.enabling import check_editable, check_not_tweaked, editable_channels, enable_track
from ..edit.restore import take_channel
from ..faults import Refusal
from ..fcurves import scratch
from ..fcurves.channels import Channels, assign, channels_in, channels_of
from ..fcurves.keyframes import NO_KEYS, Keyframes, Write, extrapolate, read, write
from ..fcurves.selecting import selecting
from ..live.switching import switch_off
from ..report import Report
from ..store import stamps
from ..store.companions import SAVED, hold_numbers, make, remove_strays, saved_count, saved_numbers, track_and_field
from ..store.frame_functions import function_of
from ..store.options import Options
from ..store.originals import Originals, put_back
from ..store.pairing import follow, pair
from ..store.parameters import without_key
from ..store.reading import digest, read_all_originals
from ..store.settings import Settings, write_settings
from ..store.tracks import FRAME_FUNCTION, Track, find_tracks, why_not
from .composing import baked_keys, plain_keys
from .curves import FittedMotion, Tolerances, plan_fitted
from .retimed import plan_retimed, sample_count
from .samples import Motion, Written, cycle_beyond, plan
from .sampling import APART, Sampling

Progress = Callable[[int, int], None]


@dataclass
class _Job:
    """One datablock's bake, all read and checked, before anything is written."""

    datablocks: list[bpy.types.ID]
    """Those that share the F-curves; the first one's rotation modes count."""
    channels: Channels
    kept: list[tuple[Track, dict[int, Originals], Options]]
    """The tracks to bake with the animator's keys, and how."""
    notes: list[str]
    motions: list[Motion] = field(default_factory=list)


def bake(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Bake the TCB tracks of the datablocks; of one that has none, all of its tracks, which become TCB.

    Parameters
    ----------
    datablocks
        What to bake. Those that share an action and slot are baked once.
    options
        How.
    prefixes
        For a datablock in it only the tracks whose paths start so.
    progress
        Called with the number of tracks done and in all.

    Returns
    -------
    Report
        A datablock that is at fault stands in `refused`, with the key, and is not changed; the others are baked.

    Raises
    ------
    ValueError
        An option makes no sense.
    """
    options.check()
    reason = too_near_keys(options.step)
    options = options if reason else options.as_kept()
    report = Report()
    jobs = _collected(datablocks, options, prefixes or {}, report)
    asked = sum(_asked(job) for job in jobs)
    if asked > options.sample_limit:
        reason = too_many(asked, options.sample_limit)
    if reason:
        report.refusals += [Refusal(name_of(job.datablocks[0]), reason) for job in jobs]
        return report
    with scratch.kept():
        jobs = [job for job in jobs if _plan(job, report)]
    jobs, written = _evaluated(jobs, report)
    total, done = sum(len(job.motions) for job in jobs), 0
    if options.target == "NEW_ACTION":
        report.add(_write_new_actions(jobs, written))
        return report
    for job, channels in zip(jobs, written, strict=True):
        report.add(_write(job, channels))
        done += len(job.motions)
        if progress is not None:
            progress(done, total)
    return report


def rebake(
    datablocks: Sequence[bpy.types.ID], channels: Channels, tracks: Sequence[Track], otherwise: Options
) -> Report:
    """Bake these tracks of editable channels again, each as it was baked last, or else as `otherwise` says.

    `datablocks` are those that share the channels. One track that is at fault does not keep the others from it.
    """
    report = Report()
    jobs = []
    reasons = {id(track): reason for track in tracks if (reason := why_not(track))}
    report.refusals += [track.refusal(reasons[id(track)]) for track in tracks if id(track) in reasons]
    ready = [track for track in tracks if id(track) not in reasons]
    for track, kept in zip(ready, read_all_originals(ready), strict=True):
        try:
            if not kept:
                raise track.refusal(rpt_("it has no keys"))
            pair(track, kept)
            job = _Job(list(datablocks), channels, [(track, kept, track.settings.options or otherwise)], [])
            asked = _asked(job)
            if asked > otherwise.sample_limit:
                raise track.refusal(too_many(asked, otherwise.sample_limit))
            jobs.append(job)
        except Refusal as refusal:
            report.refusals.append(refusal)
    with scratch.kept():
        jobs = [job for job in jobs if _plan(job, report)]
    jobs, every = _evaluated(jobs, report)
    for job, written in zip(jobs, every, strict=True):
        _write_motions(job, written, report, write)
    if jobs:
        channels.action.update_tag()
    return report


def _evaluated(jobs: Sequence[_Job], report: Report) -> tuple[list[_Job], list[list[list[Written]]]]:
    """What the channels of each job's motions get: all splines are evaluated, or fitted, at once.

    A job with keys through which there is no motion, which some methods find only now, is left out, and the report
    names the track.
    """
    try:
        return list(jobs), _evaluated_together(jobs)
    except KeysError:
        good = [job for job in jobs if _is_soluble(job, report)]
        return good, _evaluated_together(good)


def _is_soluble(job: _Job, report: Report) -> bool:
    """Whether each of the job's motions can be evaluated; one that can't stands in the report."""
    for motion in job.motions:
        said = list(motion.notes)
        try:
            _evaluated_together([replace(job, motions=[motion])])
        except KeysError as error:
            report.refusals.append(motion.track.refusal(told(error.fault), error.frame))
            return False
        finally:
            # What there is to say is said when all are evaluated.
            motion.notes[:] = said
    return True


def _evaluated_together(jobs: Sequence[_Job]) -> list[list[list[Written]]]:
    """Raises KeysError, which does not name the track."""
    motions = [motion for job in jobs for motion in job.motions]
    requests = [request for motion in motions for request in motion.requests]
    samples = iter(evaluate_many([spline for spline, _ in requests], [frames for _, frames in requests]))
    fits = iter(fit_many([fit for motion in motions if isinstance(motion, FittedMotion) for fit in motion.fits]))

    def written(motion: Motion) -> list[Written]:
        if isinstance(motion, FittedMotion):
            return motion.fitted([next(fits) for _ in motion.fits])
        return motion.written([next(samples) for _ in motion.requests])

    return [[written(motion) for motion in job.motions] for job in jobs]


def _collected(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]],
    report: Report,
) -> list[_Job]:
    """One job for all that share F-curves: of its tracks those that any of them is asked for."""
    shared: dict[tuple[int, int], tuple[Channels, list[bpy.types.ID]]] = {}
    for datablock in datablocks:
        try:
            check_editable(datablock)
            if options.target == "NEW_ACTION":
                check_not_tweaked(datablock)
            channels = channels_of(datablock)
            shared.setdefault(channels.identity, (channels, []))[1].append(datablock)
        except Refusal as refusal:
            report.refusals.append(refusal)
    found = []
    for channels, users in shared.values():
        whole = any(user not in prefixes for user in users)
        starts = None if whole else [start for user in users for start in prefixes[user]]
        tracks = find_tracks(users[0], channels, starts)
        if tracks:
            found.append((_Job(users, channels, [], _other_modes(users)), tracks))
        else:
            reason = rpt_("it has no keys on a float property")
            report.refusals.append(Refusal(name_of(users[0]), reason, nothing_to_do=True))
    asked = [_asked_for(tracks) for _, tracks in found]
    # Of all tracks at once: that is faster than one after the other.
    originals = iter(read_all_originals([track for ones in asked for track, reason in ones if not reason]))
    jobs = []
    for (job, tracks), ones in zip(found, asked, strict=True):
        kept = [{} if reason else next(originals) for _, reason in ones]
        try:
            _collect(job, tracks, ones, kept, options, report)
            jobs.append(job)
        except Refusal as refusal:
            report.refusals.append(refusal)
    return jobs


def _asked_for(tracks: Sequence[Track]) -> list[tuple[Track, str]]:
    """Those that are TCB, or where none is, all; each with the reason, where there is one, why it can't be baked."""
    return [(track, why_not(track)) for track in [track for track in tracks if track.enabled] or tracks]


def _collect(
    job: _Job,
    tracks: Sequence[Track],
    asked: Sequence[tuple[Track, str]],
    originals: Sequence[dict[int, Originals]],
    options: Options,
    report: Report,
) -> None:
    """Give the job those of its tracks that are asked for and have keys.

    Raises Refusal where no track can be baked. What was enabled and can't be is an error; the rest is a note.
    """
    enabled = any(track.enabled for track in tracks)
    if enabled:
        left = [track for track in tracks if track.in_use and not track.enabled]
        job.notes += [str(track.refusal(rpt_("not TCB, so left as it is; Enable it to bake it too"))) for track in left]
    left_alone = []
    for (track, reason), kept in zip(asked, originals, strict=True):
        pair(track, kept)
        if kept:
            job.kept.append((track, kept, options))
        else:
            left_alone.append((track, track.refusal(reason or rpt_("it has no keys"))))
    if not job.kept:
        raise Refusal.of_all([refusal for _, refusal in left_alone])
    for track, refusal in left_alone:
        if enabled and track.in_use:
            report.refusals.append(refusal)
        else:
            job.notes.append(str(refusal))


def _other_modes(datablocks: Sequence[bpy.types.ID]) -> list[str]:
    """What to say of users of shared F-curves whose rotation mode is not the first one's, which counts."""
    mode = getattr(datablocks[0], "rotation_mode", None)
    return [
        rpt_('"{:s}" shares the action in another rotation mode; "{:s}" decides', name_of(user), name_of(datablocks[0]))
        for user in datablocks[1:]
        if getattr(user, "rotation_mode", None) != mode
    ]


def _sampling(kept: Mapping[int, Originals], options: Options) -> Sampling:
    """Samples are counted from the start of the range, or from the whole frame at or before the track's first key."""
    if options.frame_range is not None:
        start, end = options.frame_range
        return Sampling(options.step, start, start, end)
    first = min(float(original.keys.co[0, 0]) for original in kept.values())
    return Sampling(options.step, math.floor(first) if math.isfinite(first) else 0.0)


def too_near_keys(step: float) -> str:
    """Why no bake has such a step; empty where it can have it."""
    if step >= APART:
        return ""
    return rpt_("a step of {:g} is below {:g} frames: Blender takes keys that near for one", step, APART)


def too_many(asked: float, limit: int) -> str:
    """Why no bake of so many samples is made."""
    return rpt_(
        "about {:s} samples were asked for, more than the limit of {:,}: "
        "take a larger step, a shorter range or fewer objects, or raise the sample limit",
        _number(asked),
        limit,
    )


def _number(count: float) -> str:
    return f"{count:,.0f}" if count < 1e15 else f"{count:.3g}"


def _asked(job: _Job) -> float:
    """About how many samples the job comes to; known before any is made."""
    asked = 0.0
    for track, kept, options in job.kept:
        sampling, cycle = _sampling(kept, options), _cycle(track)
        function = function_of(track)
        if function is not None:
            asked += sample_count(kept, sampling, function, options.output)
            continue
        # Of curves only cycles that go on for long come to much.
        count = sampling.cycled if options.output == "CURVES" else sampling.count
        asked += sum(count(original.keys.frames, cycle) for original in kept.values())
    return asked


def _cycle(track: Track) -> str:
    try:
        return track.settings.cycle
    except Refusal:
        # Said when the track is planned.
        return "SINGLE"


def _plan(job: _Job, report: Report) -> bool:
    """Make the splines; False where a key is at fault, which the report names."""
    try:
        planned = [_motion(track, kept, options) for track, kept, options in job.kept]
    except Refusal as refusal:
        report.refusals.append(refusal)
        return False
    job.motions = [motion for motion in planned if not motion.is_empty]
    job.notes += [str(motion.track.refusal(note)) for motion in planned if motion.is_empty for note in motion.notes]
    if not job.motions:
        report.notes += job.notes
    return bool(job.motions)


def _motion(track: Track, kept: dict[int, Originals], options: Options) -> Motion:
    """Raises Refusal, naming the key, where the keys make no spline."""
    settings = replace(track.settings, options=options)
    try:
        return _planned(track, settings, kept, options)
    except KeysError as error:
        raise track.refusal(told(error.fault), error.frame) from error


def _planned(track: Track, settings: Settings, kept: dict[int, Originals], options: Options) -> Motion:
    """Raises KeysError too, which does not name the track, where a look at the motion is what finds the fault."""
    sampling = _sampling(kept, options)
    function = function_of(track)
    if function is not None:
        return plan_retimed(track, settings, kept, sampling, options.defaults, function)
    motion: Motion
    if options.output == "SAMPLES":
        motion = plan(track, settings, kept, sampling, options.defaults)
    else:
        # A new action is for others too: glTF's exporter normalises each key and handle by itself.
        stretched = options.target != "NEW_ACTION"
        near = Tolerances(options.value_tolerance, options.rotation_tolerance, stretched)
        motion = plan_fitted(track, settings, kept, sampling, options.defaults, near)
    if not motion.is_empty and options.frame_range is None and cycle_beyond(track, settings) != "SINGLE":
        motion.notes.append(rpt_("it cycles: give a frame range to bake its repeats beyond the keys"))
    return motion


def _write(job: _Job, written: Sequence[list[Written]]) -> Report:
    report = Report.on(job.datablocks)
    report.notes += job.notes
    if job.channels.action.library is not None:
        job = _on_a_local_copy(job)
    remove_strays(job.channels)
    with selecting(job.channels.action) as keys:
        _write_motions(job, written, report, keys.write)
    for motion in job.motions:
        _note_made_keys(report, motion)
    job.channels.action.update_tag()
    return report


def _write_motions(job: _Job, written: Sequence[list[Written]], report: Report, write: Write) -> None:
    # Making an F-curve compares it with all others, which is fastest while nothing else is in the processor's cache.
    for motion, channels in zip(job.motions, written, strict=True):
        _make_curves(job.channels, job.datablocks[0], motion, channels)
    for motion, channels in zip(job.motions, written, strict=True):
        _write_track(motion, channels, write)
        _count(report, motion, channels)


def _on_a_local_copy(job: _Job) -> _Job:
    """The same job on the override's own copy of its linked action."""
    channels = editable_channels(job.datablocks[0])
    for other in job.datablocks[1:]:
        assign(other, channels.action, channels.slot_handle)
    tracks = {track.path: track for track in find_tracks(job.datablocks[0], channels)}
    motions = [replace(motion, track=tracks[motion.track.path]) for motion in job.motions]
    return replace(job, channels=channels, motions=motions)


def _count(report: Report, motion: Motion, written: Sequence[Written]) -> None:
    report.tracks += 1
    report.keys += len(motion.key_frames)
    generated = sum(group.values.size for group in written)
    track = motion.track
    if isinstance(motion, FittedMotion):
        report.curve_keys += generated
        if track.is_rotation:
            report.rotation_error = max(report.rotation_error, motion.error)
        else:
            report.value_error = max(report.value_error, motion.error)
    else:
        report.samples += generated
    report.notes += [str(track.refusal(note)) for note in motion.notes]
    stray = without_key(track, motion.key_frames)
    if stray:
        frames = ", ".join(f"{frame:g}" for frame in stray[:3])
        reason = rpt_("parameters stand where it has no key, frame {:s}: were its keys moved without them?", frames)
        report.notes.append(str(track.refusal(reason)))
    for fcurve in track.channels.values():
        others = sorted({modifier.type for modifier in fcurve.modifiers if modifier.type != "CYCLES"})
        if others:
            types = ", ".join(others)
            text = n_("F-curve modifiers stay and act on the baked motion: {:s} (component {:d})")
            report.notes.append(str(track.refusal(rpt_(text, types, fcurve.array_index))))


def _make_curves(channels: Channels, datablock: bpy.types.ID, motion: Motion, written: Sequence[Written]) -> None:
    """Make the F-curves that the bake needs, and take away the channels that it leaves without keys."""
    track = motion.track
    track.follow_rename()
    for companion in track.companions:
        companion.hide = True
    followed = follow(track)
    motion.notes += [followed] if followed else []
    if track.settings_curve is None:
        enable_track(datablock, channels, track, motion.settings)
    needed = [index for group in written for index in group.components]
    for index in [index for index in track.channels if index not in needed and index not in motion.originals]:
        note = take_channel(channels, datablock, track, index)
        motion.notes += [note] if note else []
    for index in needed:
        _make_saved(channels, track, index, motion.originals.get(index))


def _make_saved(channels: Channels, track: Track, index: int, original: Originals | None) -> None:
    """Make a channel's saved curve, and where the motion needs a channel that the animator never keyed, that too."""
    saved = track.saved.get(index)
    if original is None and index not in track.made:
        if saved is not None:
            channels.remove(saved)
        numbers = saved_numbers(0, track.rest[index])
        track.saved[index] = make(channels, track.path, SAVED, index, track.group, numbers)
    elif original is not None and saved is None:
        numbers = saved_numbers(len(original.keys))
        saved = track.saved[index] = make(channels, track.path, SAVED, index, track.group, numbers)
        saved.extrapolation = track.channels[index].extrapolation
    if index not in track.channels:
        track.channels[index] = channels.new(track.path, index, track.group)


def _note_made_keys(report: Report, motion: Motion) -> None:
    """A bake by hand says so; while live, keys are made all the time."""
    for original in motion.originals.values():
        if original.edited and len(original.unrecorded):
            frames = ", ".join(f"{frame:g}" for frame in original.unrecorded[:3])
            reason = rpt_("keys made since the last bake get automatic handles: {:s}", frames)
            report.notes.append(str(motion.track.refusal(reason)))
            break


def _write_track(motion: Motion, written: Sequence[Written], write: Write) -> None:
    """Save the animator's keys and write the baked ones."""
    track = motion.track
    baked: dict[int, Keyframes] = {}
    for group in written:
        own = [_save(track.saved[index], motion.originals.get(index), write) for index in group.components]
        whole = bool(group.baked[:-1].all())
        for index, keys in zip(group.components, baked_keys(own, group), strict=True):
            extrapolate(track.channels[index], "CONSTANT" if whole else track.saved[index].extrapolation)
            write(track.channels[index], keys)
            baked[index] = keys
    assert track.settings_curve is not None
    settings = replace(motion.settings, shown=motion.shown, digest=digest(track, motion.settings, baked))
    write_settings(track.settings_curve, settings)


def _save(saved: bpy.types.FCurve, original: Originals | None, write: Write) -> Keyframes:
    """Keep a channel's own keys in its saved curve; returns them as they are kept."""
    if original is None:
        return NO_KEYS
    own = put_back(saved, original, write)
    if saved_count(saved) != len(own):
        hold_numbers(saved, saved_numbers(len(own)))
    return own


def _write_new_actions(jobs: Sequence[_Job], written: Sequence[list[list[Written]]]) -> Report:
    """The same motion as plain keys in copies of the actions, which the datablocks then use."""
    report = Report()
    copies: dict[int, bpy.types.Action] = {}
    for job, channels in zip(jobs, written, strict=True):
        original = job.channels.action
        action = copies.get(original.as_pointer())
        if action is None:
            action = copies[original.as_pointer()] = original.copy()
            action.name = f"{original.name}.baked"
            switch_off(action)
        copy = next(bag for bag in channels_in(action) if bag.slot_handle == job.channels.slot_handle)
        report.add(_write_plain(job, copy, channels))
        for datablock in job.datablocks:
            assign(datablock, action, job.channels.slot_handle)
            report.notes.append(
                rpt_('"{:s}" now uses the action "{:s}"; "{:s}" is kept', datablock.name, action.name, original.name)
            )
        if original.library is None and not original.users:
            original.use_fake_user = True
    for action in copies.values():
        for bag in channels_in(action):
            _take_away_traces(bag)
    return report


def _write_plain(job: _Job, copy: Channels, written: Sequence[list[Written]]) -> Report:
    report = Report.on(job.datablocks)
    report.notes += job.notes
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}

    def fcurve_of(track: Track, index: int) -> bpy.types.FCurve:
        return fcurves.get((track.path, index)) or copy.new(track.path, index, track.group_name)

    with selecting(copy.action) as keys:
        for motion, channels in zip(job.motions, written, strict=True):
            for group in channels:
                _write_plain_group(motion, group, partial(fcurve_of, motion.track), keys.write)
            _count(report, motion, channels)
            _note_made_keys(report, motion)
    return report


def _write_plain_group(
    motion: Motion, group: Written, fcurve_of: Callable[[int], bpy.types.FCurve], write: Write
) -> None:
    own = [motion.originals[i].keys if i in motion.originals else NO_KEYS for i in group.components]
    for index, keys in zip(group.components, plain_keys(own, group), strict=True):
        fcurve = fcurve_of(index)
        extrapolate(fcurve, "CONSTANT")
        write(fcurve, keys)


def _take_away_traces(channels: Channels) -> None:
    """Remove companions, the frame function, and the stamps of tracks that were baked in place and left out of this
    bake."""
    for fcurve in [
        fcurve for fcurve in channels if fcurve.data_path == FRAME_FUNCTION or track_and_field(fcurve.data_path)
    ]:
        channels.remove(fcurve)
    for fcurve in channels:
        if stamps.is_stamped(fcurve):
            write(fcurve, stamps.unstamped(read(fcurve)))
