# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore the keys and tangents of an FBX or glTF file on objects that were imported from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np

from ...formats import fbx, gltf
from ...formats.motion import MotionError, MotionFile, Track, union_times
from ...interp.fitting.curves import ROTATION_TOLERANCE, VALUE_TOLERANCE
from ..arguments import Positive, checked
from ..datablocks import name_of
from ..edit.enable import enable_many
from ..edit.free_restore_apply_remove import remove_tracks
from ..fcurves.channels import Channels, channels_of, evaluate_anew
from ..fcurves.keyframes import LAST_FRAME
from ..fcurves.read_and_write import write
from ..options import RESTORE_CURVES
from ..report import AnimationError, Finding, Report, handle_error, size_of
from ..sampling.transforms import by_path
from ..steps import Progress
from ..store.editable import blocking_reason
from ..store.find_tracks import find_tracks
from ..text import translated
from .convert_axes_and_times import Clock
from .match_names_and_poses import Match, MatchedAction, Matcher, matched_actions
from .objects_and_bones import Item, items_of
from .property_curves import ChannelCurves, keyframes_of, rotation_curves, value_curves


class _RestoredProperty(NamedTuple):
    """A property and its new curves."""

    channels: Channels
    item: Item
    path: str
    curves: ChannelCurves


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
    tolerances = (value_tolerance, rotation_tolerance) if exact else (None, None)
    properties: list[_RestoredProperty] = []
    actions = matched_actions(matcher, report)
    for step, action in enumerate(actions):
        for match in action.matches:
            if match.misfit is None:
                properties += _restored_properties(action, match, tolerances, report)
            else:
                report.errors.append(match.misfit)
        if progress is not None:
            progress(step + 1, 2 * len(actions))
    if not properties:
        raise AnimationError(*(report.errors or [Finding("CURVES_NOT_FOUND", arguments=(path.name,))]))
    for restored in properties:
        _write(restored)
        _report_error(restored, report)
    for written_action in dict.fromkeys(restored.channels.action for restored in properties):
        evaluate_anew(written_action)
    report.add(Report.on(list(dict.fromkeys(restored.item.owner for restored in properties))))
    report.notes += [Finding("CURVES_WARNING", arguments=(path.name, translated(note))) for note in file.notes]
    if use_tcb:
        report.notes += _enable(properties, value_tolerance, rotation_tolerance)
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


def _restored_properties(
    action: MatchedAction, match: Match, tolerances: tuple[float | None, float | None], report: Report
) -> Iterator[_RestoredProperty]:
    """Yield the new curves of an item's properties. Add the properties that can't be restored to the report."""
    channels, item, clock = action.channels, match.item, action.clock
    fcurves_by_path = by_path(fcurve for fcurve in channels if fcurve.data_path.startswith(item.prefix))
    refusals = _refusals(channels, item, fcurves_by_path)
    for name, track in match.motion.tracks.items():
        path = item.path(name)
        if path not in fcurves_by_path:
            if any(curve.varies for curve in track.curves or ()):
                report.notes.append(Finding("MOVED_WITHOUT_CURVES", name_of(item.owner), path))
        elif path in refusals:
            report.errors.append(refusals[path])
        elif np.abs(clock.frames(track.times)).max() > LAST_FRAME:
            report.errors.append(Finding("FRAME_OUT_OF_RANGE", name_of(item.owner), path, arguments=(LAST_FRAME,)))
        else:
            curves = _new_curves(name, track, match, fcurves_by_path[path].values(), clock, tolerances)
            yield _RestoredProperty(channels, item, path, curves)


def _refusals(channels: Channels, item: Item, paths: Iterable[str]) -> dict[str, Finding]:
    """Return the errors for tracks that cannot be written because they are TCB, locked, driven or muted."""
    refusals = {}
    for track in find_tracks(item.owner, channels, paths):
        reason = track.finding("RESTORE_TCB") if track.enabled else blocking_reason(track)
        if reason is not None:
            refusals[track.path] = reason
    return refusals


def _new_curves(
    name: str,
    track: Track,
    match: Match,
    fcurves: Iterable[bpy.types.FCurve],
    clock: Clock,
    tolerances: tuple[float | None, float | None],
) -> ChannelCurves:
    """Return the new curves of a property. `fcurves` are the imported curves."""
    value_tolerance, rotation_tolerance = tolerances
    conversion, item = match.conversion, match.item
    if name == "rotation":
        first = item.rest("rotation")
        for fcurve in fcurves:
            # Blender ignores curves of components that the property does not have.
            if fcurve.array_index < len(first) and len(fcurve.keyframe_points):
                first[fcurve.array_index] = fcurve.keyframe_points[0].co.y
        return rotation_curves(track, conversion, item.mode, first, clock, rotation_tolerance)
    matrix, shift = conversion.values[name]
    return value_curves(track, matrix, shift, clock, value_tolerance)


def _write(restored: _RestoredProperty) -> None:
    """Write the keys to the property's F-curves. Create missing F-curves."""
    channels, path = restored.channels, restored.path
    fcurves = {fcurve.array_index: fcurve for fcurve in channels if fcurve.data_path == path}
    group = next((fcurve.group for fcurve in fcurves.values() if fcurve.group is not None), None)
    for index, curve in enumerate(restored.curves.curves):
        write(fcurves.get(index) or channels.new(path, index, group), keyframes_of(curve))


def _report_error(restored: _RestoredProperty, report: Report) -> None:
    """Add the keys of a property and their error to the report."""
    curves, is_rotation, owner = restored.curves, restored.curves.is_rotation, name_of(restored.item.owner)
    is_approximate = curves.error > (ROTATION_TOLERANCE if is_rotation else VALUE_TOLERANCE * curves.range)
    error = curves.error, curves.frame, curves.range
    report.tracks += 1
    report.keys += len(union_times(curves.curves))
    report.handles.append(
        handle_error(owner, restored.path, *error, is_rotation=is_rotation, is_approximate=is_approximate)
    )
    if is_rotation:
        report.rotations_exact &= curves.is_exact
        report.rotation_error = max(report.rotation_error, curves.error)
    else:
        report.values_exact &= curves.is_exact
        report.value_error = max(report.value_error, curves.error)
    if is_approximate:
        size = size_of(curves.error, is_rotation)
        report.notes.append(Finding("RESTORED_NEARLY", owner, restored.path, round(curves.frame, 2), (size,)))


def _enable(
    properties: Sequence[_RestoredProperty], value_tolerance: float, rotation_tolerance: float
) -> Iterator[Finding]:
    """Enable TCB on the tracks whose motion parameters can preserve. Yield a note for each track that stays plain."""
    for restored in properties:
        owner, path = restored.item.owner, restored.path
        try:
            if channels_of(owner).identity != restored.channels.identity:
                continue
            enabled = enable_many({owner: [path]})
        except AnimationError:
            # The keys from the file stay as they were written.
            continue
        if not enabled.tracks:
            continue
        if restored.curves.is_rotation:
            is_changed = enabled.rotation_change > rotation_tolerance
        else:
            is_changed = enabled.value_change > value_tolerance * restored.curves.range
        if is_changed:
            remove_tracks(owner, {path})
            yield Finding("STAYS_PLAIN", name_of(owner), path)
