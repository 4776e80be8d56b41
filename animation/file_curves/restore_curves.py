# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore the keys and tangents of an FBX or glTF file on objects that were imported from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...formats import fbx, gltf
from ...formats.motion import CONSTANT, CUBIC, LINEAR, Curve, MotionError, MotionFile, Take, Track
from ...interp.fitting.curves import ROTATION_TOLERANCE, VALUE_TOLERANCE
from ...interp.keys import Float64Array
from ..arguments import Positive, checked
from ..datablocks import HAS_SLOTS, animation_data, name_of
from ..edit.apply_and_remove import remove_tracks
from ..edit.enable import enable_many
from ..errors import AnimationError, Finding, size_of
from ..fcurves.channels import Channels, channels_in, channels_of, evaluate_anew
from ..fcurves.frames import LAST_FRAME
from ..fcurves.keyframes import INTERPOLATION, Keyframes, free_keys
from ..fcurves.linked_data import check_editable
from ..fcurves.read_keys import read_coordinates
from ..fcurves.write_keys import write
from ..options import RESTORE_CURVES
from ..report import Report, handle_error
from ..scene_time import frame_rate
from ..steps import Progress
from ..store.find_tracks import find_tracks
from ..store.track_refusals import blocking_reason
from ..translation import translated
from .channel_curves import Played, Timing, play_rotation, play_values
from .items import FCurves, Item, items_of
from .matching import PROPERTIES, Match, Matcher, about_pivot, find_timing, tracks_of

_KINDS = {CONSTANT: "CONSTANT", LINEAR: "LINEAR", CUBIC: "BEZIER"}
_THIRD = 1.0 / 3.0
_ALONE = 3.0
"""The segment length, in frames, for the handles of a key without adjacent segments."""


@dataclass(frozen=True, eq=False)
class _Restored:
    """A property and its new curves."""

    channels: Channels
    item: Item
    path: str
    played: Played
    is_rotation: bool


@checked
def restore_curves(
    path: str | Path,
    objects: Iterable[bpy.types.Object],
    *,
    exact: bool = RESTORE_CURVES["exact"].default,
    value_tolerance: Positive = RESTORE_CURVES["value_tolerance"].default,
    rotation_tolerance: Positive = RESTORE_CURVES["rotation_tolerance"].default,
    use_tcb: bool = RESTORE_CURVES["use_tcb"].default,
    progress: Progress | None = None,
) -> Report:
    """Replace imported keys with the original keys and tangents of an FBX or glTF file.

    Call this function after importing the file in Blender, with any importer and any options. Objects and bones are
    matched with the file's nodes by name, and actions with its takes. The conversion of each node is found from the
    poses at the file's keys.

    Parameters
    ----------
    path : str or pathlib.Path
        Path of a binary .fbx file (versions 7.1 to 7.7), a .glb file or a .gltf file.
    objects : iterable of bpy.types.Object
        The imported objects, including the bones of armatures.
    exact : bool
        Add keys where the error of the handles exceeds the tolerances.
    value_tolerance : float
        Maximum deviation of locations and scales, as a fraction of the range of each property.
    rotation_tolerance : float
        Maximum deviation of rotations, in radians.
    use_tcb : bool
        Enable TCB on tracks of assigned actions if parameters reproduce the motion within the tolerances.
    progress : callable, optional
        Called with the number of finished steps and the total number of steps.

    Returns
    -------
    Report
        `tracks` and `keys` count the written tracks and keys. `handles` contains the error of each track. `errors`
        names the objects and bones that do not fit the file.

    Raises
    ------
    AnimationError
        The file can't be read, or none of the objects match the file. Nothing was changed.

    Examples
    --------
    >>> report = animation.restore_curves("walk.glb", [ball])  # imported from the file, or exported to it
    >>> report.tracks, report.values_exact
    (2, True)
    """
    path = Path(path)
    file = read_file(path)
    matcher = Matcher(file, list(items_of(objects)))
    report = Report()
    tolerances = (value_tolerance, rotation_tolerance) if exact else None
    restored: list[_Restored] = []
    actions = list(matched_actions(matcher, report))
    for step, (channels, take, timing, matches) in enumerate(actions):
        for match in matches:
            if match.misfit is None:
                restored += _restored_properties(channels, take, timing, match, tolerances, report)
            else:
                report.errors.append(match.misfit)
        if progress is not None:
            progress(step + 1, 2 * len(actions))
    if not restored:
        raise AnimationError(*(report.errors or [Finding("CURVES_NOT_FOUND", arguments=(path.name,))]))
    for restored_property in restored:
        _write(restored_property, report)
    for action in dict.fromkeys(restored_property.channels.action for restored_property in restored):
        evaluate_anew(action)
    report.add(Report.on(list(dict.fromkeys(restored_property.item.owner for restored_property in restored))))
    report.notes += [Finding("CURVES_WARNING", arguments=(path.name, translated(note))) for note in file.notes]
    if use_tcb:
        _enable(restored, value_tolerance, rotation_tolerance, report)
    if progress is not None:
        progress(2 * len(actions), 2 * len(actions))
    return report


def read_file(path: Path) -> MotionFile:
    """Read an FBX or glTF file. Raise an AnimationError that names the file if it can't be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AnimationError(Finding("CURVES_NOT_READ", arguments=(path.name, str(error.strerror)))) from error
    try:
        if data[:4] == b"glTF" or path.suffix.lower() in (".gltf", ".glb"):
            return gltf.read(data, lambda name: (path.parent / name).read_bytes())
        return fbx.read(data)
    except MotionError as error:
        raise AnimationError(Finding("CURVES_FAULT", arguments=(path.name, translated(error)))) from error


def matched_actions(matcher: Matcher, report: Report) -> Iterator[tuple[Channels, Take, Timing, list[Match]]]:
    """Yield the actions of the items' owners with the corresponding takes and the matches."""
    owners = list(dict.fromkeys(item.owner for item in matcher.items))
    for owner in owners:
        for channels in _actions_of(owner, report):
            best = _best_take(matcher, owner, channels)
            if best is not None:
                yield channels, *best


def _best_take(
    matcher: Matcher, owner: bpy.types.Object, channels: Channels
) -> tuple[Take, Timing, list[Match]] | None:
    """Return the take that fits an owner's action best, with its timing and matches, or None."""
    rate = frame_rate(bpy.context.scene)
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in channels if len(fcurve.keyframe_points)}
    best: tuple[Take, Timing, list[Match]] | None = None
    action = channels.action.name
    # Takes that are named in the action come first. An importer may have created an action from one of their layers.
    takes = sorted(matcher.file.takes, key=lambda take: not take.name or take.name not in action)
    layers = [(take, layer) for take in takes for layer in (take, *take.layers)]
    for take, layer in layers:
        candidate = _matches(matcher, layer, rate, owner, fcurves)
        if candidate is None:
            continue
        timing, matches = candidate
        if best is None or _faults(matches) < _faults(best[2]):
            best = take, timing, matches if layer is take else _with_all_layers(matches, layer, take)
        if not any(_faults(matches)):
            break
    return best


def _matches(
    matcher: Matcher, take: Take, rate: float, owner: bpy.types.Object, fcurves: FCurves
) -> tuple[Timing, list[Match]] | None:
    """Return the timing and the matches of an owner's items in a take."""
    key_frames_by_prefix: dict[str, list[Float64Array]] = {}
    for (path, _), fcurve in fcurves.items():
        frames = read_coordinates(fcurve)[::2].astype(np.float64)
        key_frames_by_prefix.setdefault(path.rpartition(".")[0], []).append(frames)
    pairs = []
    for item in matcher.items:
        key_frames = key_frames_by_prefix.get(item.prefix.removesuffix("."), []) if item.owner == owner else []
        for node in matcher.candidates(item) if key_frames else ():
            if node in take.motions:
                pairs.append((take.motions[node], np.concatenate(key_frames)))
    timing = find_timing(pairs, rate)
    if timing is None:
        return None
    matches = [match for match in matcher.matches(take, timing, {owner: fcurves}) if match.item.owner == owner]
    return (timing, matches) if matches else None


def _faults(matches: Sequence[Match]) -> tuple[int, int]:
    """Count the poses that do not fit, and the file's keys that are missing in the F-curves."""
    return sum(match.misfit is not None for match in matches), sum(match.unkeyed for match in matches)


def _with_all_layers(matches: Sequence[Match], layer: Take, take: Take) -> list[Match]:
    """Return matches found from an action of one layer, with the combined motion of all layers."""
    result = []
    for match in matches:
        whole = take.motions[match.node]
        is_about_pivot = match.motion is not layer.motions[match.node] and whole.pivot is not None
        result.append(replace(match, motion=about_pivot(whole) if is_about_pivot else whole))
    return result


def _actions_of(owner: bpy.types.Object, report: Report) -> Iterator[Channels]:
    """Yield the action of an object, and the actions that importers placed in its NLA tracks."""
    data: Any = animation_data(owner)
    if data is None:
        return
    yielded = set()
    if data.action is not None:
        try:
            channels = check_editable(owner)
        except AnimationError as refusal:
            report.errors += [finding for finding in refusal.findings if not finding.has_nothing_to_do]
        else:
            yielded.add(channels.identity)
            yield channels
    for strip in (strip for track in data.nla_tracks for strip in track.strips):
        action = strip.action
        if action is None or action.library is not None or owner.library is not None:
            continue
        for channels in channels_in(action):
            is_played = not HAS_SLOTS or (strip.action_slot and strip.action_slot.handle == channels.slot_handle)
            if is_played and channels.identity not in yielded:
                yielded.add(channels.identity)
                yield channels


def _restored_properties(
    channels: Channels,
    take: Take,
    timing: Timing,
    match: Match,
    tolerances: tuple[float, float] | None,
    report: Report,
) -> Iterator[_Restored]:
    """Yield the new curves of an item's properties. Add the properties that can't be restored to the report."""
    item = match.item
    fcurves_by_path: dict[str, list[bpy.types.FCurve]] = {}
    for fcurve in channels:
        if fcurve.data_path.startswith(item.prefix):
            fcurves_by_path.setdefault(fcurve.data_path, []).append(fcurve)
    refusals = _refusals(channels, item, fcurves_by_path)
    for name, track in tracks_of(match.motion).items():
        path = item.path(PROPERTIES[name])
        if path not in fcurves_by_path:
            if any(curve.varies for curve in track.curves or ()):
                report.notes.append(Finding("MOVED_WITHOUT_CURVES", name_of(item.owner), path))
        elif path in refusals:
            report.errors.append(refusals[path])
        elif np.abs(timing.frames(track.times)).max() > LAST_FRAME:
            report.errors.append(Finding("KEY_BEYOND", name_of(item.owner), path, arguments=(LAST_FRAME,)))
        else:
            played = _played(name, track, match, fcurves_by_path[path], timing, tolerances)
            yield _Restored(channels, item, path, played, name == "rotation")


def _played(
    name: str,
    track: Track,
    match: Match,
    fcurves: Sequence[bpy.types.FCurve],
    timing: Timing,
    tolerances: tuple[float, float] | None,
) -> Played:
    """Return the new curves of a property. `fcurves` are the imported curves."""
    value_tolerance, rotation_tolerance = (None, None) if tolerances is None else tolerances
    conversion, item = match.conversion, match.item
    if name == "rotation":
        rest = item.rest("rotation").tolist()
        first = np.array([_first_value(fcurves, index, value) for index, value in enumerate(rest)])
        return play_rotation(track, conversion, item.mode, first, timing, rotation_tolerance)
    if name == "translation":
        return play_values(track, conversion.linear, conversion.shift, timing, value_tolerance)
    return play_values(track, conversion.factors, np.zeros(3), timing, value_tolerance)


def _refusals(channels: Channels, item: Item, paths: Iterable[str]) -> dict[str, Finding]:
    """Return the errors for tracks that cannot be written because they are TCB, locked, driven or muted."""
    refusals = {}
    for track in find_tracks(item.owner, channels, paths):
        reason = track.finding("RESTORE_TCB") if track.enabled else blocking_reason(track)
        if reason is not None:
            refusals[track.path] = reason
    return refusals


def _first_value(fcurves: Sequence[bpy.types.FCurve], index: int, rest: float) -> float:
    """Return the value of a component at its first key."""
    points: Any = next((fcurve.keyframe_points for fcurve in fcurves if fcurve.array_index == index), ())
    return float(points[0].co.y) if len(points) else rest


def _write(restored: _Restored, report: Report) -> None:
    """Write the keys of a property, and add the keys and their error to the report."""
    channels, played = restored.channels, restored.played
    fcurves = {fcurve.array_index: fcurve for fcurve in channels if fcurve.data_path == restored.path}
    group = next((fcurve.group for fcurve in fcurves.values() if fcurve.group is not None), None)
    for index, curve in enumerate(played.curves):
        write(fcurves.get(index) or channels.new(restored.path, index, group), _keyframes_of(curve))
    report.tracks += 1
    report.keys += len(np.unique(np.concatenate([curve.times for curve in played.curves])))
    datablock = name_of(restored.item.owner)
    tolerance = ROTATION_TOLERANCE if restored.is_rotation else VALUE_TOLERANCE * played.range
    is_approximate = played.error > tolerance
    report.handles.append(
        handle_error(
            datablock,
            restored.path,
            played.error,
            played.frame,
            played.range,
            is_rotation=restored.is_rotation,
            is_approximate=is_approximate,
        )
    )
    if restored.is_rotation:
        report.rotations_exact &= played.is_exact
        report.rotation_error = max(report.rotation_error, played.error)
    else:
        report.values_exact &= played.is_exact
        report.value_error = max(report.value_error, played.error)
    if is_approximate:
        size = size_of(played.error, restored.is_rotation)
        report.notes.append(Finding("RESTORED_NEARLY", datablock, restored.path, round(played.frame, 2), (size,)))


def _keyframes_of(curve: Curve) -> Keyframes:
    """Return the keys of a curve over frames, with FREE handles.

    In segments other than Bezier segments, handles divide a straight line into thirds, as Blender would place them.
    """
    values = np.where(curve.interpolation == CONSTANT, curve.held, curve.values)
    values[-1] = curve.values[-1]
    length = np.diff(curve.times)
    is_cubic = curve.interpolation[:-1] == CUBIC
    chord = np.where(curve.interpolation[:-1] == LINEAR, np.diff(values), 0.0) / np.where(length > 0.0, length, 1.0)
    leaving = np.append(np.where(is_cubic, curve.leaving[:-1], chord), 0.0)
    arriving = np.append(0.0, np.where(is_cubic, curve.arriving[1:], chord))
    reach_after = np.append(np.where(is_cubic, curve.reach_after[:-1], _THIRD) * length, 0.0)
    reach_before = np.append(0.0, np.where(is_cubic, curve.reach_before[1:], _THIRD) * length)
    # The outer handles mirror the inner ones.
    outside = reach_after[0] or _ALONE * _THIRD
    reach_before[0], arriving[0] = outside, leaving[0]
    reach_after[-1], leaving[-1] = reach_before[-1] or outside, arriving[-1]
    kinds = np.array([INTERPOLATION[_KINDS[kind]] for kind in sorted(_KINDS)], dtype=np.uint8)
    slopes, reaches = (arriving, leaving), (reach_before, reach_after)
    return free_keys(curve.times, values, slopes, reaches, kinds[curve.interpolation])


def _enable(restored: Sequence[_Restored], value_tolerance: float, rotation_tolerance: float, report: Report) -> None:
    """Enable TCB on the tracks whose motion can be preserved by parameters. Leave all other tracks unchanged."""
    for restored_property in restored:
        owner, path = restored_property.item.owner, restored_property.path
        try:
            if channels_of(owner).identity != restored_property.channels.identity:
                continue
            enabled = enable_many({owner: [path]})
        except AnimationError:
            continue
        if not enabled.tracks:
            continue
        if restored_property.is_rotation:
            is_changed = enabled.rotation_change > rotation_tolerance
        else:
            is_changed = enabled.value_change > value_tolerance * restored_property.played.range
        if is_changed:
            remove_tracks(owner, {path})
            report.notes.append(Finding("STAYS_PLAIN", name_of(owner), path))
