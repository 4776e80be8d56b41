# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the bake of tracks: create their splines, and choose the plan for the output."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...interp import KeysError
from ...interp.base_spline import Cycle
from ..fcurves import scratch_curves
from ..fcurves.cycles_modifier import repeats
from ..fcurves.keyframes import Float32Array, union
from ..memoize import memoized
from ..report import AnimationError, Finding
from ..store.own_keys import OwnKeys
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT
from ..store.table.track_records import Options, Settings
from ..store.tracks import Track
from .bake_job import PlannedTrack, Refusal
from .plans.channel_values import with_values_of_motion
from .plans.curve_plan import plan_curves
from .plans.handle_plan import plan_handles
from .plans.own_motion import TrackInput
from .plans.plan import Plan, Scope
from .plans.retimed_plan import plan_retimed
from .plans.sample_frames import APART, sampling_of
from .plans.sample_plan import plan_samples
from .plans.track_splines import TrackSpline, splines_together, track_splines

_LOOP_GAP = 1e-4
"""Smallest reported gap between the first and last pose of a loop, in the track's units or radians."""
_OUTPUTS: dict[str, Callable[[Scope, Sequence[TrackSpline]], list[Plan]]] = {
    "SAMPLES": plan_samples,
    "CURVES": plan_curves,
    "HANDLES": plan_handles,
}


@scratch_curves.shared_action()
def plan_tracks(tracks: Sequence[TrackInput]) -> list[PlannedTrack | Refusal]:
    """Plan the splines of all tracks. Tracks that can't be planned are refused."""
    results: list[PlannedTrack | Refusal] = []
    for inputs, splines_of_track in zip(tracks, splines_together(tracks), strict=True):
        try:
            results.append(_plan_track(inputs, splines_of_track))
        except KeysError as error:
            results.append(Refusal(inputs.track, inputs.track.error("SPLINE", error.message, frame=error.frame)))
        except AnimationError as error:
            results.append(Refusal(inputs.track, error))
    return results


def _plan_track(inputs: TrackInput, splines: list[TrackSpline] | None) -> PlannedTrack:
    """Plan the bake of a track, retimed by the track's frame function if there is one.

    `splines` are the track's splines, or None if they have not been created yet.

    Raises AnimationError if the keys or their parameters do not define a spline. Raises KeysError, which does not name
    the track, if the fault is found only during evaluation.
    """
    track, options, settings, function = inputs.track, inputs.options, inputs.settings, inputs.function
    if options.output == "HANDLES" and function is not None:
        raise track.error("HANDLES_TIMED")
    splines = splines or track_splines(track, settings, inputs.own, options.defaults)
    frames = splines[0].frames if len(splines) == 1 else union([spline.frames for spline in splines])
    scope = Scope(
        track=track,
        own=inputs.own,
        options=options,
        sampling=sampling_of(frames, options.step, options.extend),
        cycle=_cycle_outside_keys(track, settings, splines, options),
        key_frames=frames,
        takes_shortest_path=track.is_rotation and settings.path == "SHORTEST",
    )
    notes = [track.finding("SPLINE", note) for spline in splines for note in spline.spline.notes]
    if function is not None:
        notes += [track.finding("TIMED_AS_SAMPLES")] if options.output == "CURVES" else []
        plans = plan_retimed(scope, splines, function)
    else:
        notes += _notes_of_keys(scope, settings, splines)
        plans = _OUTPUTS[options.output](scope, [with_values_of_motion(track, spline) for spline in splines])
    return PlannedTrack(**vars(inputs), key_frames=frames, plans=plans, notes=notes)


def _cycle_outside_keys(track: Track, settings: Settings, splines: Sequence[TrackSpline], options: Options) -> Cycle:
    """Return the cycle that the bake adds outside the keys."""
    # A Cycles modifier repeats all keys of the curve, including generated keys outside the animator's keys.
    if settings.cycle == "SINGLE" or any(map(repeats, track.channels.values())):
        return "SINGLE"
    # Our Cycles modifier on handles also repeats the segments that Blender plays. Generated keys cannot.
    if options.output != "HANDLES" and any(spline.is_interrupted for spline in splines):
        return "SINGLE"
    return settings.cycle


def _notes_of_keys(scope: Scope, settings: Settings, splines: Sequence[TrackSpline]) -> list[Finding]:
    """Return notes on the cycle, chosen handles and closely spaced keys of a track without a frame function."""
    track, frames = scope.track, scope.key_frames
    notes: list[Finding] = []
    if settings.cycle != "SINGLE":
        notes += _notes_of_cycle(scope, splines, settings.cycle)
    if scope.options.output != "HANDLES" and any(map(_has_chosen_handles, scope.own.values())):
        notes.append(track.finding("HANDLES_CHOSEN"))
    row = _first_of_close_keys(frames) if track.is_rotation else None
    if row is not None:
        notes.append(track.finding("KEYED_NEAR", float(frames[row]), float(frames[row + 1])))
    return notes


def _notes_of_cycle(scope: Scope, splines: Sequence[TrackSpline], cycle: Cycle) -> list[Finding]:
    """Return notes on a track with the cycle REPEAT or LOOP: jumps in a loop, and cycles that the bake omits."""
    by_handles = scope.options.output == "HANDLES"
    codes = []
    if cycle == "LOOP" and any(spline.spline.loop_gap > _LOOP_GAP for spline in splines):
        codes.append("LOOP_JUMPS")
    if scope.options.extend is None and scope.cycle != "SINGLE" and not by_handles:
        codes.append("CYCLE_INSIDE_KEYS")
    if any(spline.is_interrupted for spline in splines):
        if not by_handles:
            codes.append("CYCLE_ENDS")
        elif cycle == "LOOP":
            codes.append("LOOP_CORNER")
    return list(map(scope.track.finding, codes))


@memoized
def _first_of_close_keys(frames: Float32Array) -> int | None:
    """Return the row of the first key that is so close to the next key that Blender could merge samples, or None."""
    is_close = np.diff(frames) <= APART
    return int(np.argmax(is_close)) if is_close.any() else None


def _has_chosen_handles(own: OwnKeys) -> bool:
    """Return whether the animator chose the type of any handle in the spline's segments."""
    if not own.has_chosen:
        return False
    is_chosen = ((own.chosen[:-1] & CHOSEN_RIGHT) | (own.chosen[1:] & CHOSEN_LEFT)) != 0
    return bool(is_chosen[~own.begins_segment[:-1]].any())
