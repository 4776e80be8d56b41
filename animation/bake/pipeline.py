# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake: from the animator's keys to F-curves that Blender plays without the extension."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import bpy
import numpy as np

from ...interp import KeysError, evaluate_many
from ...interp.fitting.curves import fit_many
from ...interp.fitting.handles import KnownFits, fit_handles
from ..arguments import checked
from ..datablocks import name_of
from ..errors import AnimationError, TooManySamplesError
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, assign, channels_in, channels_of, users_of_channels
from ..fcurves.cycles import remove_cycles, repeat
from ..fcurves.editable import check_editable, check_not_tweaked, editable_channels
from ..fcurves.frames import union
from ..fcurves.keyframes import (
    BY_NUMBERS,
    INTERPOLATION,
    NAMES,
    NO_KEYS,
    Keyframes,
    Write,
    extrapolate,
    read_joined,
    write,
)
from ..fcurves.selection_flags import selecting
from ..report import HandleError, Report
from ..store.frame_functions import function_of
from ..store.live_switch import switch_off
from ..store.original_actions import bring_back, set_aside
from ..store.own_keys import NO_OWN_KEYS, OwnKeys, digest, read_all_own_keys
from ..store.paths import FRAME_FUNCTION, remove_strays, split, track_of
from ..store.recording import Part, as_written, new_state, plain_keys, recorded, remove_traces
from ..store.table import identity
from ..store.table.custom_property import GENERATED, Channel, Error, Extrapolation, State, Written, remove_table, update
from ..store.table.options import Options
from ..store.table.rows import NO_ROWS, Rows, joined
from ..store.tracks import Track, blocking_reason, find_tracks, played_otherwise
from ..translation import n_, rpt_, translated
from .compose import baked_keys
from .compose import plain_keys as composed_plain_keys
from .parameters_from_edits import may_imply, with_implied
from .plans.handles import approximate
from .plans.plan_track import plan_track, sampling_of
from .plans.protocol import Baked, ChannelKeys, OwnChannels, Results, TrackPlan
from .plans.retimed import sample_count
from .plans.sample_frames import APART
from .united_frames import with_common_frames

_KEYS_AT_ONCE = 20_000
"""Keys that are composed together; they take some megabytes."""

Progress = Callable[[int, int], None]

_SIDES = ("handle_left", "handle_right")
_ROUNDED = 1e-6
"""Relative. Blender's rounding when it places handles."""

_LIVE_FITS = KnownFits()
"""Handles that Live fitted: in a long track an edit changes few segments."""


@dataclass
class _Job:
    """The bake of one set of F-curves, read and checked in full before anything is written."""

    datablocks: list[bpy.types.ID]
    """The datablocks that share the F-curves; the first one's rotation modes are used."""
    channels: Channels
    kept: list[tuple[Track, OwnChannels, Options]]
    """The tracks to bake, with the animator's keys and the options."""
    notes: list[str]
    plans: list[TrackPlan] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    """The tracks' entries in the table, one for each plan; set once the keys have rows."""
    rows: Rows = field(default_factory=lambda: NO_ROWS)
    """New rows."""


@checked
def bake(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]] | None = None,
    progress: Progress | None = None,
    whole: bool = True,
) -> Report:
    """Bake the TCB tracks of the datablocks; where one has none, enable and bake all of its tracks.

    Tracks that are enabled here get parameters 0 (or the options' defaults), so their look is not kept.
    `enable_and_bake` can keep it (it has no default for that), and so can `enable_many` before the bake (`keep_look` is
    False by default).

    Parameters
    ----------
    datablocks
        The datablocks to bake. Those that share an action and slot are baked once.
    options
        The options of the bake.
    prefixes
        For each datablock in it: bake only tracks whose paths start with one of these.
    progress
        Called with the number of tracks done and the number of all.
    whole
        Leave a datablock unchanged if one of its tracks can't be baked; otherwise bake its other tracks.

    Returns
    -------
    Report
        Tracks that can't be baked are in `errors`, with the key, and are not changed; the other datablocks are baked.

    Raises
    ------
    TypeError, ValueError
        An argument has a wrong type or an impossible value; the text names it.

    Examples
    --------
    >>> report = animation.bake_many([ball, rig], animation.Options(output="HANDLES"))
    >>> report.objects, report.tracks, report.errors
    (2, 3, [])
    """
    steps = bake_steps(datablocks, options, prefixes, whole)
    while True:
        try:
            done, total = next(steps)
        except StopIteration as stop:
            report: Report = stop.value
            return report
        if progress is not None:
            progress(done, total)


Steps = Generator[tuple[int, int], None, Report]
"""The number of tracks done and in all, and at the end what was done."""


def bake_steps(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]] | None = None,
    whole: bool = True,
    at_once: int | None = None,
) -> Steps:
    """Bake as `bake` does, step by step; yield the number of tracks done and the number of all.

    `at_once`: the number of datablocks whose splines are evaluated together; None: all.
    """
    reason = too_near_keys(options.step)
    options = options if reason else options.as_kept()
    report = Report()
    jobs = _collected(datablocks, options, prefixes or {}, report)
    asked = sum(_asked(job) for job in jobs)
    if reason:
        report.errors += [AnimationError(name_of(job.datablocks[0]), reason) for job in jobs]
        return report
    if asked > options.sample_limit:
        reason = too_many(asked, options.sample_limit)
        report.errors += [TooManySamplesError(name_of(job.datablocks[0]), reason, asked) for job in jobs]
        return report
    with scratch_curves.kept():
        jobs = [job for job in jobs if _plan(job, report, whole)]
    total, done = sum(len(job.plans) for job in jobs), 0
    if options.target == "NEW_ACTION":
        report.add(_write_new_actions(*_evaluated(jobs, report, whole)))
        return report
    count = max(1, at_once or len(jobs))
    for first in range(0, len(jobs), count):
        some, every = _evaluated(jobs[first : first + count], report, whole)
        for job, baked in zip(_with_rows(some), every, strict=True):
            report.add(_write(job, baked))
            done += len(job.plans)
            yield done, total
    return report


def rebake(
    datablocks: Sequence[bpy.types.ID], channels: Channels, tracks: Sequence[Track], otherwise: Options
) -> Report:
    """Bake these tracks of editable channels again, each with the options of its last bake, or else `otherwise`.

    `datablocks` are those that share the channels. A track that can't be baked does not keep the others from it.
    """
    report = Report()
    jobs = []
    reasons = {id(track): reason for track in tracks if (reason := blocking_reason(track))}
    report.errors += [track.error(reasons[id(track)]) for track in tracks if id(track) in reasons]
    ready = [track for track in tracks if id(track) not in reasons]
    own_keys = read_all_own_keys(ready)
    for track, kept, implies in zip(ready, own_keys, may_imply(ready, own_keys), strict=True):
        try:
            if not kept:
                raise track.error(rpt_("it has no keys"))
            options = track.settings.options or otherwise
            own, notes = with_implied(track, kept, options.defaults) if implies else (kept, [])
            report.notes += notes
            job = _Job(list(datablocks), channels, [(track, own, options)], [])
            asked = _asked(job)
            if asked > otherwise.sample_limit:
                raise track.error(too_many(asked, otherwise.sample_limit))
            jobs.append(job)
        except AnimationError as refusal:
            report.errors.append(refusal)
    with scratch_curves.kept():
        jobs = [job for job in jobs if _plan(job, report, whole=True)]
    jobs, every = _evaluated(jobs, report, whole=True, known=_LIVE_FITS)
    if jobs:
        (whole,) = _with_rows([replace(jobs[0], plans=[plan for job in jobs for plan in job.plans])])
        _write_tracks(whole, [each for baked in every for each in baked], report, write)
        channels.action.update_tag()
    return report


def _evaluated(
    jobs: Sequence[_Job], report: Report, whole: bool, known: KnownFits | None = None
) -> tuple[list[_Job], list[list[Baked]]]:
    """Evaluate and fit the splines of all jobs together, and return each job's results; reuse known handles.

    Some methods find only now that there is no motion through the keys of a track. Such a track is left out and
    reported, or with `whole` its job.
    """
    try:
        return list(jobs), _evaluated_together(jobs, known)
    except KeysError:
        soluble = [replace(job, plans=[plan for plan in job.plans if _is_soluble(job, plan, report)]) for job in jobs]
        good = [
            now
            for job, now in zip(jobs, soluble, strict=True)
            if now.plans and not (whole and len(now.plans) < len(job.plans))
        ]
        return good, _evaluated_together(good, known)


def _is_soluble(job: _Job, plan: TrackPlan, report: Report) -> bool:
    """Return whether the track can be evaluated; report it where it can't."""
    try:
        _evaluated_together([replace(job, plans=[plan])])
    except KeysError as error:
        report.errors.append(plan.track.error(translated(error.fault), error.frame))
        return False
    return True


def _evaluated_together(jobs: Sequence[_Job], known: KnownFits | None = None) -> list[list[Baked]]:
    """Evaluate and fit the splines of all jobs; raise KeysError, which does not name the track."""
    plans = [plan for job in jobs for plan in job.plans]
    evaluations = [evaluation for plan in plans for evaluation in plan.evaluations]
    values = evaluate_many([spline for spline, _ in evaluations], [frames for _, frames in evaluations])
    fits = fit_many([request for plan in plans for request in plan.requests])
    handles = fit_handles([request for plan in plans for request in plan.handles], known)
    results = Results(iter(values), iter(fits), iter(handles))
    return [[plan.compose(results) for plan in job.plans] for job in jobs]


def _collected(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]],
    report: Report,
) -> list[_Job]:
    """Make one job for all datablocks that share F-curves, with the tracks that any of them is to bake."""
    shared: dict[tuple[int, int], tuple[Channels, list[bpy.types.ID]]] = {}
    for datablock in datablocks:
        try:
            check_editable(datablock)
            if options.target == "NEW_ACTION":
                check_not_tweaked(datablock)
            channels = channels_of(datablock)
            shared.setdefault(channels.identity, (channels, []))[1].append(datablock)
        except AnimationError as refusal:
            report.errors.append(refusal)
    found = []
    for channels, users in shared.values():
        whole = any(user not in prefixes for user in users)
        starts = None if whole else [start for user in users for start in prefixes[user]]
        tracks = find_tracks(users[0], channels, starts)
        if tracks:
            found.append((_Job(users, channels, [], []), tracks))
        else:
            reason = rpt_("it has no keys on a float property")
            report.errors.append(AnimationError(name_of(users[0]), reason, nothing_to_do=True))
    asked = [_asked_for(tracks) for _, tracks in found]
    # All tracks at once, which is faster than one after the other.
    originals = iter(read_all_own_keys([track for ones in asked for track, reason in ones if not reason]))
    jobs = []
    for (job, tracks), ones in zip(found, asked, strict=True):
        kept = [{} if reason else next(originals) for _, reason in ones]
        try:
            _collect(job, tracks, ones, kept, options, report)
            jobs.append(job)
        except AnimationError as refusal:
            report.errors.append(refusal)
    for job, users in zip(jobs, _all_users(jobs), strict=True):
        job.notes += played_otherwise([track for track, _, _ in job.kept], users)
    return jobs


def _all_users(jobs: Sequence[_Job]) -> list[list[bpy.types.ID]]:
    """Return the datablocks that each job's F-curves animate, whether they are to be baked or not."""
    given = Counter(job.channels.action for job in jobs for _ in job.datablocks)
    more = [job.channels for job in jobs if job.channels.action.users > given[job.channels.action]]
    users = iter(users_of_channels(more))
    return [next(users) if job.channels.action.users > given[job.channels.action] else job.datablocks for job in jobs]


def _asked_for(tracks: Sequence[Track]) -> list[tuple[Track, str]]:
    """Return the TCB tracks, or where there never were any, all; each with the reason why it can't be baked, or "".

    Where TCB tracks have lost their F-curves, the others stay plain.
    """
    # Where the table is damaged, the tracks' states are not known.
    enabled = [track for track in tracks if track.enabled or track.table.fault]
    had_some = any(slot == track.slot for track in tracks[:1] for slot, _ in track.table.places)
    return [(track, blocking_reason(track)) for track in (enabled if enabled or had_some else tracks)]


def _collect(
    job: _Job,
    tracks: Sequence[Track],
    asked: Sequence[tuple[Track, str]],
    originals: Sequence[dict[int, OwnKeys]],
    options: Options,
    report: Report,
) -> None:
    """Add those of the tracks that have keys to the job.

    Raises AnimationError where no track can be baked. An enabled track that can't be baked is an error; any other
    gives a note.
    """
    enabled = any(track.enabled for track in tracks)
    if enabled:
        left = [track for track in tracks if track.in_use and not track.enabled]
        job.notes += [track.note(rpt_("not TCB, so left as it is; Enable it to bake it too")) for track in left]
    left_alone = []
    implied = may_imply([track for track, _ in asked], originals)
    for (track, reason), kept, implies in zip(asked, originals, implied, strict=True):
        if kept:
            own, notes = with_implied(track, kept, options.defaults) if implies else (kept, [])
            job.notes += notes
            job.kept.append((track, own, options))
        else:
            left_alone.append((track, track.error(reason or rpt_("it has no keys"))))
    if not asked:
        raise AnimationError(
            name_of(job.datablocks[0]), rpt_("its TCB tracks have no F-curves any more"), nothing_to_do=True
        )
    if not job.kept:
        raise AnimationError.of_all([refusal for _, refusal in left_alone])
    for track, refusal in left_alone:
        if enabled and track.in_use:
            report.errors.append(refusal)
        else:
            job.notes.append(str(refusal))


def too_near_keys(step: float) -> str:
    """Return why a bake can't have such a step; empty where it can."""
    if step >= APART:
        return ""
    return rpt_("a step of {:g} is below {:g} frames: Blender takes keys that near for one", step, APART)


def too_many(asked: float, limit: int) -> str:
    """Return why a bake of so many samples is refused."""
    return rpt_(
        "about {:s} samples were asked for, more than the limit of {:,}: "
        "take a larger step, a shorter range or fewer objects, or raise the sample limit",
        approximately(asked),
        limit,
    )


def approximately(count: float) -> str:
    """Return a count of samples as text."""
    return f"{count:,.0f}" if count < 1e15 else f"{count:.3g}"


def _asked(job: _Job) -> float:
    """Return about how many samples the job will have; computed before any is made."""
    asked = 0.0
    for track, kept, options in job.kept:
        if options.output == "HANDLES":
            continue
        sampling, cycle = sampling_of(kept, options), _cycle(track)
        function = function_of(track)
        if function is not None:
            asked += sample_count(kept, sampling, function, options.output)
            continue
        # Curves have few keys, except where cycles continue for long.
        count = sampling.cycled if options.output == "CURVES" else sampling.count
        alike: dict[bytes, list[OwnKeys]] = {}
        for original in kept.values():
            alike.setdefault(original.keys.frames.tobytes(), []).append(original)
        asked += sum(len(each) * count(each[0].keys.frames, cycle) for each in alike.values())
    return asked


def _cycle(track: Track) -> str:
    try:
        return track.settings.cycle
    except AnimationError:
        # Reported when the track is planned.
        return "SINGLE"


def _plan(job: _Job, report: Report, whole: bool) -> bool:
    """Plan the splines of a job; return whether there are any. A track that can't be planned is reported.

    With `whole` one such track makes the result False.
    """
    planned = []
    for track, own, options in job.kept:
        try:
            planned.append(_track_plan(track, own, options))
        except AnimationError as refusal:
            report.errors.append(refusal)
            if whole:
                return False
    job.plans = [plan for plan in planned if plan.plans]
    job.notes += [plan.track.note(note) for plan in planned if not plan.plans for note in plan.notes]
    if not job.plans:
        report.notes += job.notes
    return bool(job.plans)


def _track_plan(track: Track, own: OwnChannels, options: Options) -> TrackPlan:
    """Plan a track; raise AnimationError, naming the key, where the keys make no spline."""
    try:
        return plan_track(track, replace(track.settings, options=options), own, options)
    except KeysError as error:
        raise track.error(translated(error.fault), error.frame) from error


def _write(job: _Job, every: Sequence[Baked]) -> Report:
    report = Report.on(job.datablocks)
    report.notes += job.notes
    remove_strays(job.channels)
    with selecting(job.channels.action) as keys:
        _write_tracks(job, every, report, keys.write)
    for plan, baked in zip(job.plans, every, strict=True):
        _note_of_one_bake(report, plan, baked)
        _note_of_gltf(report, plan, baked)
    job.channels.action.update_tag()
    return report


def _write_tracks(job: _Job, every: Sequence[Baked], report: Report, write: Write) -> None:
    """Write the channels of all tracks, and their entries in the table."""
    for plan in job.plans:
        note_doubts(report, plan.track, plan.own.values())
    # Blender compares a new F-curve with all others, which is fastest while the processor's cache has nothing else.
    notes = [
        _make_curves(job.channels, job.datablocks[0], plan, baked) for plan, baked in zip(job.plans, every, strict=True)
    ]
    written = list(_written(job.plans, job.states, every, write))
    for plan, state, baked, found in zip(job.plans, written, every, notes, strict=True):
        plan.track.state = state
        _count(report, plan, baked, found)
    update(job.channels.action, job.rows, written, known=job.plans[0].track.table)


def _state_of(channels: Channels, plan: TrackPlan) -> State:
    track = plan.track
    if track.state is not None:
        return track.state
    return new_state(channels.action, track.table, channels.slot_handle, track.path, plan.settings)


def _with_rows(jobs: Sequence[_Job]) -> list[_Job]:
    """Give the keys of all jobs rows and identities, on channels that can be edited."""
    jobs = [job if job.channels.action.library is None else _on_a_local_copy(job) for job in jobs]
    states = [[_state_of(job.channels, plan) for plan in job.plans] for job in jobs]
    named, rows = recorded(
        [
            Part(state.identity, index, own, index in state.channels)
            for job, own_states in zip(jobs, states, strict=True)
            for plan, state in zip(job.plans, own_states, strict=True)
            for index, own in plan.own.items()
        ]
    )
    owns, fresh = iter(named), iter(rows)
    result = []
    for job, own_states in zip(jobs, states, strict=True):
        plans = [replace(plan, own={index: next(owns) for index in plan.own}) for plan in job.plans]
        own_rows = joined([next(fresh) for plan in plans for _ in plan.own])
        result.append(replace(job, plans=plans, states=own_states, rows=own_rows))
    return result


def _on_a_local_copy(job: _Job) -> _Job:
    """Move the job to the override's own copy of its linked action."""
    channels = editable_channels(job.datablocks[0])
    for other in job.datablocks[1:]:
        assign(other, channels.action, channels.slot_handle)
    tracks = {track.path: track for track in find_tracks(job.datablocks[0], channels)}
    plans = [replace(plan, track=tracks[plan.track.path]) for plan in job.plans]
    return replace(job, channels=channels, plans=plans)


def _count(report: Report, plan: TrackPlan, baked: Baked, notes: Sequence[str] = ()) -> None:
    track = plan.track
    report.tracks += 1
    report.keys += len(plan.key_frames)
    report.samples += baked.samples
    report.curve_keys += baked.curve_keys
    if track.is_rotation:
        report.rotation_error = max(report.rotation_error, baked.error)
    else:
        report.value_error = max(report.value_error, baked.error)
    if baked.is_by_handles:
        report.handles.append(_handle_error(track, baked))
    standing = list(baked.notes)
    for fcurve in track.channels.values():
        others = sorted({modifier.type for modifier in fcurve.modifiers if modifier.type != "CYCLES"})
        if others:
            text = n_("F-curve modifiers stay and act on the baked motion: {:s} (component {:d})")
            standing.append(rpt_(text, ", ".join(others), fcurve.array_index))
    report.standing += [track.error(note) for note in standing]
    report.notes += [track.note(note) for note in (*standing, *notes)]


def _handle_error(track: Track, baked: Baked) -> HandleError:
    return {
        "datablock": track.name,
        "track": track.path,
        "rotation": track.is_rotation,
        "error": math.degrees(baked.error) if track.is_rotation else baked.error,
        "frame": baked.error_frame if math.isfinite(baked.error_frame) else None,
    }


def _make_curves(channels: Channels, datablock: bpy.types.ID, plan: TrackPlan, baked: Baked) -> list[str]:
    """Make the F-curves that the bake needs, and remove the channels that it leaves without keys; return notes."""
    track = plan.track
    needed = [index for keys in baked.channels for index in keys.components]
    notes = [
        take_channel(channels, datablock, track, index)
        for index in list(track.channels)
        if index not in needed and index not in plan.own
    ]
    for index in needed:
        if index not in track.channels:
            track.channels[index] = channels.new(track.path, index, track.group)
    return [note for note in notes if note]


def take_channel(channels: Channels, datablock: bpy.types.ID, track: Track, index: int) -> str:
    """Remove a channel that has no keys of the animator's; return a note for the user, which may be empty.

    If the bake made the channel, the property gets its value back.
    """
    rest = track.made.get(index)
    channels.remove(track.channels.pop(index))
    if rest is None:
        return rpt_("component {:d} had no keys of its own any more, so its curve is gone", index)
    owner_path, name = split(track.path)
    owner = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    getattr(owner, name)[index] = rest
    return ""


def _note_of_one_bake(report: Report, plan: TrackPlan, baked: Baked) -> None:
    """Add notes that only a bake by hand gives.

    While Live is on, keys are made all the time, and the list of tracks shows the error of handles.
    """
    if baked.is_approximate:
        reason = approximate(plan.track, baked.error, baked.error_frame)
        report.notes.append(plan.track.note(reason))
    for original in plan.own.values():
        if len(original.unrecorded):
            frames = ", ".join(f"{frame:g}" for frame in original.unrecorded[:3])
            reason = rpt_("keys made since the last bake get automatic handles: {:s}", frames)
            report.notes.append(plan.track.note(reason))
            break


_OPPOSITE = n_("quaternions of opposite signs: glTF's exporter samples it anew; a new action has keys that it takes")
_KEYED_APART = n_(
    "channels keyed at different frames: glTF's exporter samples it anew; a new action has keys that it takes"
)


def _note_of_gltf(report: Report, plan: TrackPlan, baked: Baked) -> None:
    """Add a note where glTF's exporter will resample a track baked in place because of how it was keyed.

    A bake in place does not change the animator's keys.
    """
    if plan.track.kind == "QUATERNION" and any(keys.held.any() for keys in baked.channels):
        values = [spline.values for each in plan.plans if (spline := getattr(each, "spline", None)) is not None]
        if not any(((rows[1:] * rows[:-1]).sum(axis=1) < 0.0).any() for rows in values):
            return
        reason = rpt_(_OPPOSITE)
    elif not plan.track.is_rotation and len({own.keys.frames.tobytes() for own in plan.own.values()}) > 1:
        own = {component: original.keys.frames for component, original in plan.own.items()}
        # Blender's own segments, and what is not to be baked, have the animator's keys alone.
        every = {
            np.union1d(own.pop(component), keys.frames).tobytes()
            for keys in baked.channels
            for component in keys.components
            if component in own
        }
        if len(every | {np.unique(frames).tobytes() for frames in own.values()}) == 1:
            return
        reason = rpt_(_KEYED_APART)
    else:
        return
    report.notes.append(plan.track.note(reason))


def note_doubts(report: Report, track: Track, kept: Iterable[OwnKeys]) -> None:
    """Add a note with the frames where the edits of the track's keys are ambiguous."""
    doubts = [own.doubtful for own in kept if len(own.doubtful)]
    if doubts:
        doubtful = union(doubts)
        frames = ", ".join(f"{frame:g}" for frame in doubtful[:3])
        reason = rpt_("edited so that keys can't be told for sure; all that may be yours are kept: {:s}", frames)
        report.notes.append(track.note(reason))


def _written(
    plans: Sequence[TrackPlan], states: Sequence[State], every: Sequence[Baked], write: Write
) -> Iterator[State]:
    """Write the baked keys of tracks; yield each track's entry in the table."""
    found: list[dict[int, Channel]] = [{} for _ in plans]
    for members in _composed_together(plans, every):
        _write_alike([(plans[number], states[number], keys, found[number]) for number, keys in members], write)
    for plan, state, baked, own in zip(plans, states, every, found, strict=True):
        channels = {index: own[index] for keys in baked.channels for index in keys.components}
        settings = replace(plan.settings, digest=digest(plan.track, plan.settings, plan.own))
        error = Error(baked.error, baked.error_frame, baked.is_approximate) if baked.is_by_handles else None
        track = plan.track
        yield replace(state, slot=track.slot, path=track.path, settings=settings, channels=channels, error=error)


def _composed_together(plans: Sequence[TrackPlan], every: Sequence[Baked]) -> Iterator[list[tuple[int, ChannelKeys]]]:
    """Yield the channels' keys that have one layout together, each with the number of its plan.

    NumPy's cost per call is the same for one channel as for a hundred; the number of keys is limited to save memory.
    """
    alike: dict[Hashable, list[tuple[int, ChannelKeys]]] = {}
    for number, (plan, baked) in enumerate(zip(plans, every, strict=True)):
        for keys in baked.channels:
            own = [plan.own.get(index, NO_OWN_KEYS) for index in keys.components]
            stand = all(each.standing is not None for each in own)
            alike.setdefault((own[0].keys.frames.tobytes(), stand, *keys.layout), []).append((number, keys))
    for members in alike.values():
        _, first = members[0]
        count = max(1, _KEYS_AT_ONCE // (len(first.components) * (len(first.frames) + len(first.baked))))
        yield from (members[start : start + count] for start in range(0, len(members), count))


def _write_alike(members: Sequence[tuple[TrackPlan, State, ChannelKeys, dict[int, Channel]]], write: Write) -> None:
    """Write the keys of channels that have one layout, and record what the table stores of each."""
    keys = ChannelKeys.joined([each for _, _, each, _ in members])
    places = [(plan, state, index, found) for plan, state, each, found in members for index in each.components]
    own = [plan.own.get(index, NO_OWN_KEYS) for plan, _, index, _ in places]
    extrapolation: Extrapolation | None = "CONSTANT" if keys.baked[:-1].all() and keys.handles is None else None
    is_ended = np.array([each.is_ended for each in own])
    composed = baked_keys([_played(each, keys) for each in own], keys, is_ended)
    standing = [each.standing for each in own if each.standing is not None]
    names: Sequence[Sequence[str]] = [NAMES] * len(own)
    if len(standing) == len(own) and not len(keys.frames):
        names = composed.differing(standing)
    noted = as_written(composed.own, own, composed.placed)
    generated = np.empty(keys.values.shape, dtype=GENERATED)
    generated["frame"], generated["value"] = keys.frames, keys.values
    columns = zip(places, own, composed.channels, names, noted, generated, strict=True)
    for (plan, state, index, found), each, written, other, own_written, made in columns:
        track = plan.track
        before, fcurve = state.channels.get(index), track.channels[index]
        kept = track.extrapolation(index)
        # When the extrapolation changes, Blender updates the curve, which may move its handles.
        write(fcurve, written, NAMES if extrapolate(fcurve, extrapolation or kept) else other)
        repeat(fcurve, keys.repeats)
        if keys.chosen is not None:
            _let_blender_place(fcurve, own_written)
        rest = None if index in plan.own else track.made.get(index, track.rest[index])
        edited = each.edited or (index in plan.own and before is not None and before.edited)
        found[index] = Channel(kept, rest, edited, own_written, made)


def _let_blender_place(fcurve: bpy.types.FCurve, written: Written) -> None:
    """Let Blender place handles of types that the animator chose, and record where they are."""
    fcurve.update()
    keys = read_joined([fcurve], _SIDES).keys
    for side in _SIDES:
        places, before = getattr(keys, side), written[side]
        # To align aligned handles again rounds them; repeated bakes must give the same bits.
        moved = (np.abs(places - before) > _ROUNDED * (1.0 + np.abs(before))).any(axis=1)
        written[side][moved] = places[moved]
        fcurve.keyframe_points.foreach_set(side, written[side].ravel())


def _played(own: OwnKeys, group: ChannelKeys) -> Keyframes:
    """Return the own keys with their identities in all floats that the baked curve does not use."""
    # Ten times as fast as `isin`.
    kinds = own.keys.interpolation.tobytes()
    if not any(kind in kinds for kind in BY_NUMBERS):
        return own.keys
    played = np.where(group.baked, np.uint8(INTERPOLATION["LINEAR"]), own.keys.interpolation)
    return identity.with_identities(own.keys, own.identities, played)


def _write_new_actions(jobs: Sequence[_Job], every: Sequence[list[Baked]]) -> Report:
    """Write the motion as plain keys into copies of the actions, and assign these to the datablocks."""
    report = Report()
    copies: dict[bpy.types.Action, bpy.types.Action] = {}
    for job, baked in zip(jobs, every, strict=True):
        original = job.channels.action
        action = copies.get(original)
        if action is None:
            if original.library is None:
                bring_back(original)
            action = copies[original] = original.copy()
            action.name = f"{original.name}.baked"
            switch_off(action)
        copy = next(bag for bag in channels_in(action) if bag.slot_handle == job.channels.slot_handle)
        report.add(_write_plain(job, copy, baked))
        for datablock in job.datablocks:
            assign(datablock, action, job.channels.slot_handle)
            report.notes.append(
                rpt_('"{:s}" now uses the action "{:s}"; "{:s}" is kept', datablock.name, action.name, original.name)
            )
    for original, action in copies.items():
        for bag in channels_in(action):
            _take_away_traces(bag)
        remove_table(action)
        if original.library is None:
            set_aside(original, action)
    return report


def _write_plain(job: _Job, copy: Channels, every: Sequence[Baked]) -> Report:
    report = Report.on(job.datablocks)
    report.notes += job.notes
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}

    def fcurve_of(track: Track, index: int) -> bpy.types.FCurve:
        return fcurves.get((track.path, index)) or copy.new(track.path, index, track.group_name)

    with selecting(copy.action) as keys:
        for plan, baked in zip(job.plans, every, strict=True):
            report.curve_keys += _write_plain_track(plan, baked, partial(fcurve_of, plan.track), keys.write)
            _count(report, plan, baked)
            _note_of_one_bake(report, plan, baked)
            note_doubts(report, plan.track, plan.own.values())
    return report


def _write_plain_track(
    plan: TrackPlan, baked: Baked, fcurve_of: Callable[[int], bpy.types.FCurve], write: Write
) -> int:
    """Write the keys of a track's channels; return how many keys were added to those that the bake has made."""
    channels: dict[int, Keyframes] = {}
    groups: dict[int, ChannelKeys] = {}
    for group in baked.channels:
        own = [plain_keys(plan.own[i]) if i in plan.own else NO_KEYS for i in group.components]
        channels |= zip(group.components, composed_plain_keys(own, group), strict=True)
        groups |= dict.fromkeys(group.components, group)
    goes_on = {index: group.handles is not None for index, group in groups.items()}
    outside = {index: plan.track.extrapolation(index) if on else "CONSTANT" for index, on in goes_on.items()}
    written: Mapping[int, Keyframes] = channels
    if not plan.track.is_rotation and not any(group.repeats for group in groups.values()):
        written = with_common_frames(channels, {index: each == "LINEAR" for index, each in outside.items()})
    for index, keys in written.items():
        fcurve = fcurve_of(index)
        extrapolate(fcurve, outside[index])
        write(fcurve, keys, NAMES)
        repeat(fcurve, groups[index].repeats)
        remove_cycles(fcurve)
    return sum(map(len, written.values())) - sum(map(len, channels.values()))


def _take_away_traces(channels: Channels) -> None:
    """Remove frame functions, and the stamps and identities of keys that were not in this bake."""
    for fcurve in [each for each in channels if each.data_path == FRAME_FUNCTION or track_of(each.data_path)]:
        channels.remove(fcurve)
    for fcurve in channels:
        remove_traces(fcurve)
