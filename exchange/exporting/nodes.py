# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the tracks of Blender's objects to nodes of a file."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np

from ...animation.errors import Finding
from ...animation.fcurves.keyframes import Float64Array
from ...animation.sampling.properties import curves_of
from ...formats import three_ds
from ...interp import rotations
from ..clean_keys import Keys, still
from ..conversion import Conversion, Frame
from ..importing.set_properties import BLEND, LENS, ROLL_CONSTRAINT, SIZE
from .camera_and_light_formulas import fov_of, hotspot_of, rolls_of, width_seen
from .gathered import Gathered
from .matrices import Matrices, inverse_of
from .played_frames import go_on, span_of_keys
from .round_to_file import numbers_track, turns_track
from .track_keys import SampleLimit, Tracks, sampled, sampled_turns

_DEFAULTS = {"POSITION": 0.0, "SCALE": 1.0, "ROLL": 0.0}
_SIGHT = 10.0
"""Distance of the target that is created for a camera without a target."""
_ROUNDING = 1e-6
"""Tolerance for values without keys, which are rounded to float32 and converted."""
_NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])


class Writer:
    """Writer of tracks to nodes. Each method raises AnimationError if a track cannot be written."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        conversion: Conversion,
        matrices: Matrices,
        limit: SampleLimit,
    ) -> None:
        self.scene = scene
        self.conversion = conversion
        self.matrices = matrices
        self.limit = limit

    def write(self, gathered: Gathered, reason: Finding | None) -> None:
        """Add the tracks of the node. `reason` states why the object's transforms must be sampled, if they must."""
        if reason:
            gathered.add_note("MOTION_SAMPLED", reason)
        if gathered.obj is None:
            self._sight(gathered)
            return
        if gathered.colored is not None:
            datablock, path = gathered.colored
            self._color(gathered, self._tracks(datablock, None), path)
            return
        frame = Frame(self.conversion, gathered.parent_is_aimed, gathered.kind in three_ds.TARGET_KINDS)
        if reason:
            self._sampled_transforms(gathered, frame)
        else:
            self._keyed_transforms(gathered, frame)
        if gathered.kind == "OBJECT":
            self._hide(gathered)
            self._morph(gathered)
        elif gathered.kind == "CAMERA":
            self._view(gathered)
            self._roll(gathered)
        elif gathered.kind in ("LIGHT", "SPOTLIGHT"):
            tracks = self._tracks(gathered.obj.data, gathered.obj)
            self._color(gathered, tracks)
            if gathered.kind == "SPOTLIGHT":
                self._cones(gathered, tracks)
                self._roll(gathered)

    def _tracks(self, datablock: bpy.types.ID, obj: bpy.types.Object | None) -> Tracks:
        return Tracks(datablock, obj, self.scene, self.limit, self.conversion)

    def _add(self, gathered: Gathered, kind: str, keys: Keys, values: Float64Array, imported: Keys | None) -> None:
        """Add the imported track if the keys equal the imported keys.

        Otherwise, add a track of `values`, in file units.

        An object that was imported without the track gets none for a single key with the default value.
        """
        source_track = gathered.source_track(kind)
        is_default = len(keys) == 1 and not (keys.values != _DEFAULTS.get(kind)).any()
        if source_track is not None and imported is not None and _same(keys, imported):
            gathered.tracks.append(source_track)
        elif gathered.source is None or source_track is not None or not is_default:
            gathered.tracks.append(numbers_track(kind, keys.with_values(values), self.conversion, gathered.add_note))

    def _sampled_transforms(self, gathered: Gathered, frame: Frame) -> None:
        places, turns, scales, has_shear = self.matrices.local(gathered.obj, gathered.parent)
        if has_shear:
            gathered.add_note("SHEARED")
        frames = self.matrices.frames
        location, scale = sampled(frames, places), sampled(frames, scales)
        self._add(gathered, "POSITION", location, frame.positions_in_file(location.values), None)
        if gathered.kind == "OBJECT":
            rotation = sampled_turns(frames, frame.rotations_in_file(turns))
            gathered.tracks.append(turns_track(rotation, self.conversion, gathered.add_note))
            self._add(gathered, "SCALE", scale, frame.scales_in_file(scale.values), None)

    def _keyed_transforms(self, gathered: Gathered, frame: Frame) -> None:
        obj, add_note = gathered.obj, gathered.add_note
        tracks = self._tracks(obj, obj)
        inverse = None if gathered.parent is None else inverse_of(obj)
        place, turn, factor = inverse or (np.zeros(3), _NO_TURN, 1.0)
        location = tracks.numbers("location", add_note)
        location = location.with_values(place + factor * location.values @ rotations.to_matrix(turn).T)
        positions = frame.positions_in_file(location.values)
        self._add(gathered, "POSITION", location, positions, gathered.imported_keys("location"))
        if gathered.kind == "OBJECT":
            self._turns(gathered, tracks, turn, frame)
            scale = tracks.numbers("scale", add_note)
            scale = scale.with_values(factor * scale.values)
            self._add(gathered, "SCALE", scale, frame.scales_in_file(scale.values), gathered.imported_keys("scale"))

    def _turns(self, gathered: Gathered, tracks: Tracks, outer: Float64Array, frame: Frame) -> None:
        """Add the rotation track. `outer` is applied after the object's own rotation."""
        obj, add_note = gathered.obj, gathered.add_note
        rotation = tracks.rotation(obj, add_note)
        if rotation.settings is not None and len(rotation.keys) > 1:
            gathered.construction = rotation.settings.construction
        imported = None if gathered.planned is None else gathered.planned.rotation
        source_track = gathered.source_track("ROTATION")
        is_alone = bool((outer == _NO_TURN).all())
        if imported is not None and source_track is not None and rotation.is_like(imported) and is_alone:
            gathered.tracks.append(source_track)
            return
        turns = tracks.turns(obj, add_note)
        values = turns.values.copy()
        values[:, 1:] = frame.axes_in_file(turns.values[:, 1:] @ rotations.to_matrix(outer).T)
        first = rotations.from_axis_angle(turns.values[0, 1:], turns.values[0, 0])
        axis, angle = rotations.to_axis_angle(
            frame.rotations_in_file(rotations.multiply(outer, first)[np.newaxis])[0], values[0, 1:]
        )
        if gathered.source is not None and source_track is None and len(turns) == 1 and abs(angle) < _ROUNDING:
            return
        values[0] = angle, *axis
        gathered.tracks.append(turns_track(turns.with_values(values), self.conversion, add_note))

    def _hide(self, gathered: Gathered) -> None:
        """Write the visibility at the first key to the flags, and a key for each change to a track."""
        visibility = _visibility(gathered.obj, self.scene, self.limit)
        imported = None if gathered.planned is None else gathered.planned.hidden
        source_track = gathered.source_track("HIDE")
        is_unchanged = imported is not None and _same(visibility, imported)
        if gathered.source is not None and source_track is not None and is_unchanged:
            gathered.flags = gathered.source.flags
            gathered.tracks.append(source_track)
            return
        is_hidden = bool(visibility.values[0, 0])
        first, second = gathered.flags
        gathered.flags = first & ~three_ds.HIDDEN | (three_ds.HIDDEN if is_hidden else 0), second
        changes = np.flatnonzero(np.diff(visibility.values[:, 0])) + 1
        if len(changes):
            keys = Keys(visibility.frames[changes], np.zeros((len(changes), 0)), np.zeros((5, len(changes))))
            gathered.tracks.append(numbers_track("HIDE", keys, self.conversion, gathered.add_note))

    def _morph(self, gathered: Gathered) -> None:
        """Write the markers of an imported morph track."""
        source_track = gathered.source_track("MORPH")
        action = gathered.obj.animation_data.action if gathered.obj.animation_data else None
        if source_track is None or action is None or gathered.planned is None:
            return
        markers = [(marker.frame, marker.name) for marker in action.pose_markers]
        if markers == [(round(frame), name) for frame, name in gathered.planned.markers]:
            gathered.tracks.append(source_track)
        else:
            gathered.add_note("MARKERS_CHANGED")

    def _view(self, gathered: Gathered) -> None:
        camera, add_note = gathered.obj.data, gathered.add_note
        tracks = self._tracks(camera, gathered.obj)
        if tracks.is_keyed('["fov"]') and _has_driver(camera, "lens", LENS):
            fov = tracks.numbers('["fov"]', add_note)
        elif tracks.moves("lens"):
            frames, lens = tracks.played("lens")
            fov = sampled(frames, fov_of(lens, width_seen(camera, self.scene)))
            add_note("LENS_SAMPLED", len(fov))
        else:
            fov = still(fov_of(camera.lens, width_seen(camera, self.scene)))
        if camera.type != "PERSP":
            add_note("VIEW_AS_PERSPECTIVE", camera.type.lower())
        self._add(gathered, "FOV", fov, fov.values, gathered.imported_keys("fov"))

    def _roll(self, gathered: Gathered) -> None:
        obj, add_note = gathered.obj, gathered.add_note
        constraint = obj.constraints.get(ROLL_CONSTRAINT)
        if gathered.target is None or not gathered.is_upright:
            worlds = self.conversion.axes.T @ self.matrices.world(obj)[:, :3, :3]
            roll = sampled(self.matrices.frames, np.degrees(rolls_of(worlds))[:, np.newaxis])
        elif constraint is not None and self._tracks(obj, obj).moves('["roll"]'):
            roll = self._tracks(obj, obj).numbers('["roll"]', add_note)
        else:
            roll = still(np.array([0.0 if constraint is None else math.degrees(constraint.to_min_z_rot)]))
        self._add(gathered, "ROLL", roll, roll.values, gathered.imported_keys("roll"))

    def _sight(self, gathered: Gathered) -> None:
        """Add a target to a node without one."""
        world = self.matrices.world(gathered.aimed_by)
        places = sampled(self.matrices.frames, world[:, :3, 3] - _SIGHT * rotations.unit_vectors(world[:, :3, 2])[0])
        places = places.with_values(self.conversion.places_in_file(places.values))
        gathered.tracks.append(numbers_track("POSITION", places, self.conversion, gathered.add_note))

    def _color(self, gathered: Gathered, tracks: Tracks, path: str = "color") -> None:
        color = tracks.numbers(path, gathered.add_note)
        # The color of a node has an alpha channel.
        self._add(gathered, "COLOR", color, color.values[:, :3], gathered.imported_keys("color"))

    def _cones(self, gathered: Gathered, tracks: Tracks) -> None:
        light, add_note = gathered.obj.data, gathered.add_note
        if _has_driver(light, "spot_size", SIZE) and _has_driver(light, "spot_blend", BLEND):
            hotspot, falloff = (tracks.numbers(f'["{name}"]', add_note) for name in ("hotspot", "falloff"))
        elif tracks.moves("spot_blend") or tracks.moves("spot_size"):
            size = tracks.numbers("spot_size", add_note)
            falloff = size.with_values(np.degrees(size.values))
            frames, played = tracks.played("spot_blend", "spot_size")
            hotspot = sampled(frames, np.degrees(hotspot_of(played[:, :1], played[:, 1:])))
            add_note("HOTSPOT_SAMPLED", len(hotspot))
        else:
            inner = hotspot_of(np.array([light.spot_blend]), np.array([light.spot_size]))
            hotspot, falloff = still(np.degrees(inner)), still(math.degrees(light.spot_size))
        self._add(gathered, "HOTSPOT", hotspot, hotspot.values, gathered.imported_keys("hotspot"))
        self._add(gathered, "FALLOFF", falloff, falloff.values, gathered.imported_keys("falloff"))


def _same(keys: Keys, imported: Keys) -> bool:
    """Check whether the keys, or the value of a property without keys, equal the imported keys within rounding."""
    if keys.is_still and imported.is_still:
        difference = np.abs(keys.values - imported.values).max(initial=0.0)
        return bool(difference <= _ROUNDING * np.abs(imported.values).max(initial=1.0))
    return keys.is_like(imported)


def _visibility(obj: bpy.types.Object, scene: bpy.types.Scene, limit: SampleLimit) -> Keys:
    """Return keys that are 1 while the object is hidden in renders.

    A curve that is not stepped, or that continues outside its keys, is sampled.
    """
    fcurve = curves_of(obj).get(("hide_render", 0))
    if fcurve is None:
        return still(np.array([float(obj.hide_render)]))
    points = list(fcurve.keyframe_points)
    span = span_of_keys([fcurve])
    goes_on = go_on([fcurve], span, scene)
    if goes_on:
        span = span.with_frames_of(scene)
    if goes_on or not points or any(point.interpolation != "CONSTANT" for point in points[:-1]):
        limit.take(span.number, obj.name, "hide_render")
        frames = span.frames()
    else:
        frames = np.array([point.co.x for point in points])
    # Blender treats all values below 1 as off.
    values = np.array([[float(fcurve.evaluate(frame) >= 1.0)] for frame in frames.tolist()])
    return Keys(frames, values, np.zeros((5, len(frames))))


def _has_driver(datablock: Any, path: str, expression: str) -> bool:
    """Check whether the property has a driver from an import."""
    drivers = datablock.animation_data.drivers if datablock.animation_data else ()
    return any(curve.data_path == path and curve.driver.expression.endswith(expression) for curve in drivers)
