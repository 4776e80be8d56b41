# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes and figures in the report of a bake: errors, what other programs will do, what edits left in doubt."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..fcurves import scratch_curves
from ..fcurves.frames import union
from ..report import HandleError, Report
from ..store.own_keys import OwnKeys, unrecorded_note
from ..store.tracks import Track
from ..translation import n_, rpt_
from .plans.handles import approximate
from .plans.protocol import Baked, TrackPlan

_OPPOSITE = n_("quaternions of opposite signs: glTF's exporter samples it anew; a new action has keys that it takes")
_KEYED_APART = n_(
    "channels keyed at different frames: glTF's exporter samples it anew; a new action has keys that it takes"
)


def count_track(report: Report, plan: TrackPlan, baked: Baked, notes: Sequence[str] = ()) -> None:
    track = plan.track
    report.tracks += 1
    report.keys += len(plan.key_frames)
    if baked.is_by_handles:
        report.handles.append(_handle_error(track, baked))
    else:
        report.samples += baked.samples
        report.curve_keys += baked.curve_keys
    is_exact = baked.error == 0.0 or baked.error <= rounding_of(track, plan.largest)
    if track.is_rotation:
        report.rotation_error = max(report.rotation_error, baked.error)
        report.rotations_exact &= is_exact
    else:
        report.value_error = max(report.value_error, baked.error)
        report.values_exact &= is_exact
    standing = [*baked.notes, *_modifier_notes(track)]
    report.standing += [track.error(note) for note in standing]
    report.notes += [track.note(note) for note in (*standing, *notes)]


_PRECISION = 4.0 * float(np.finfo(np.float32).eps)


def rounding_of(track: Track, largest: float) -> float:
    """Return the error that Blender's numbers alone make: radians of a rotation, else of values up to the `largest`."""
    return _PRECISION if track.is_rotation else _PRECISION * largest


def _modifier_notes(track: Track) -> list[str]:
    """Return a note for each type of F-curve modifier, so that ten of them on a rig can be read."""
    components: dict[str, list[str]] = {}
    for fcurve in [fcurve for fcurve in track.channels.values() if len(fcurve.modifiers)]:
        for kind in sorted({modifier.type for modifier in fcurve.modifiers} - {"CYCLES"}):
            components.setdefault(kind, []).append(str(fcurve.array_index))
    text = n_("F-curve modifiers stay and act on the baked motion: {:s} (component {:s})")
    return [rpt_(text, kind, ", ".join(found)) for kind, found in components.items()]


def _handle_error(track: Track, baked: Baked) -> HandleError:
    return {
        "datablock": track.name,
        "track": track.path,
        "rotation": track.is_rotation,
        "error": math.degrees(baked.error) if track.is_rotation else baked.error,
        "frame": baked.error_frame if math.isfinite(baked.error_frame) else None,
        "approximate": baked.is_approximate,
    }


def note_of_one_bake(report: Report, plan: TrackPlan, baked: Baked) -> None:
    """Add notes that only a bake by hand gives.

    While Live is on, keys are made all the time, and the list of tracks shows the error of handles.
    """
    if baked.is_approximate:
        reason = approximate(plan.track, baked.error, baked.error_frame)
        report.notes.append(plan.track.note(reason))
    reason = unrecorded_note(plan.own.values())
    if reason:
        report.notes.append(plan.track.note(reason))
    if _is_held(plan, baked):
        reason = rpt_(
            "its extrapolation is Linear: this bake holds the values before and after the keys, handles go on"
        )
        report.notes.append(plan.track.note(reason))
    if _goes_on_otherwise(plan, baked):
        reason = rpt_(
            "its extrapolation is Linear, and this bake leaves segments to Blender: beyond a baked end its line may "
            "have another slope than the spline, handles go on along it"
        )
        report.notes.append(plan.track.note(reason))


def _goes_on_otherwise(plan: TrackPlan, baked: Baked) -> bool:
    """Return whether a curve goes on in a line from generated keys."""
    track = plan.track
    if plan.settings.cycle != "SINGLE" or track.frame_curve is not None:
        return False
    ends = [keys for keys in baked.channels if keys.handles is None and not keys.holds_outside and keys.baked.any()]
    at_ends = [index for keys in ends if keys.baked[0] or keys.baked[-2] for index in keys.components]
    return any(
        index in plan.own and track.extrapolation(index) == "LINEAR" and not track.channels[index].modifiers
        for index in at_ends
    )


def _is_held(plan: TrackPlan, baked: Baked) -> bool:
    """Return whether the bake holds values where a curve of the animator's goes on in a line."""
    track = plan.track
    if plan.settings.cycle != "SINGLE" or track.frame_curve is not None:
        return False
    held = [index for keys in baked.channels if keys.holds_outside for index in keys.components]
    for index, own in plan.own.items():
        if index not in held or track.extrapolation(index) != "LINEAR" or track.channels[index].modifiers:
            continue
        ends = own.keys.take(np.array([0, -1]))
        outside = ends.frames + np.array([-1.0, 1.0], dtype=np.float32)
        if (scratch_curves.evaluate(own.keys, own.edited, "LINEAR", outside) != ends.values).any():
            return True
    return False


def note_of_gltf(report: Report, plan: TrackPlan, baked: Baked) -> None:
    """Add a note where glTF's exporter will resample a track baked in place because of how it was keyed.

    A bake in place does not change the animator's keys.
    """
    if plan.track.kind == "QUATERNION" and any(keys.held.any() for keys in baked.channels):
        values = [spline.values for each in plan.plans if (spline := getattr(each, "spline", None)) is not None]
        if not any(((rows[1:] * rows[:-1]).sum(axis=1) < 0.0).any() for rows in values):
            return
        reason = rpt_(_OPPOSITE)
    elif not plan.track.is_rotation and len({own.timing for own in plan.own.values()}) > 1:
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


DOUBTFUL = n_("edited so that keys can't be told for sure; all that may be yours are kept: {:s}")


def note_doubts(report: Report, track: Track, kept: Iterable[OwnKeys]) -> None:
    """Add a note with the frames where the edits of the track's keys are ambiguous."""
    doubts = [own.doubtful for own in kept if len(own.doubtful)]
    if doubts:
        doubtful = union(doubts)
        frames = ", ".join(f"{frame:g}" for frame in doubtful[:3])
        reason = rpt_(DOUBTFUL, frames)
        report.notes.append(track.note(reason))
