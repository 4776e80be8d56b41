# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert Blender's objects to nodes of a file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...animation.errors import Finding
from ...animation.fcurves.keyframes import Float64Array
from ...animation.sampling.properties import curves_of
from ...formats import three_ds
from ...interp import rotations
from ...interp.splines.tcb import Construction
from ..clean_keys import AddNote, Keys, still
from ..conversion import Conversion, Frame
from ..imported_state import DamagedStateError, recall
from ..importing.apply_plan import AIM, BLEND, LENS, ROLL_CONSTRAINT, SIZE
from ..importing.plan_objects import Planned, add_keys, node_name
from .file_tracks import numbers_track, turns_track
from .matrices import Matrices, inverse_of
from .played_frames import go_on, span_of_keys
from .track_keys import SampleLimit, Tracks, sampled, sampled_turns

_DEFAULTS = {"POSITION": 0.0, "SCALE": 1.0, "ROLL": 0.0}
_SIGHT = 10.0
"""Distance of the target that is created for a camera without a target."""
_ROUNDING = 1e-6
"""Tolerance for values without keys, which are rounded to float32 and converted."""


@dataclass(eq=False)
class Gathered:
    """An object and its node."""

    obj: Any
    kind: str
    name: bytes
    parent: Any
    """The parent object in the file, or None."""
    add_note: AddNote
    aimed_by: Any = None
    """The object that looks at this target."""
    target: Any = None
    """The object that this object looks at."""
    is_upright: bool = True
    """True if the object is aimed upright in the file, except for its roll."""
    parent_is_aimed: bool = False
    """True if the parent has a target in the file."""
    instance: bytes | None = None
    pivot: npt.NDArray[np.float32] | None = None
    flags: tuple[int, int] = (0x4000, 0)
    tracks: list[three_ds.Track] = field(default_factory=list)
    source: three_ds.Node | None = None
    """The node from which the object was imported."""
    planned: Planned | None = None
    """The node in its imported state."""
    colored: tuple[bpy.types.ID, str] | None = None
    """The datablock and path of the color of an ambient light."""
    construction: Construction | None = None
    """The interpolation of a rotation with several keys."""


def target_of(obj: Any, conversion: Conversion) -> tuple[Any, bool]:
    """Return the object that a camera or light looks at, and whether the camera or light is upright in the file.

    The object is None if there is no such constraint, or if there are also other constraints.
    """
    live = [constraint for constraint in obj.constraints if constraint.enabled]
    aims = [constraint for constraint in live if constraint.name != ROLL_CONSTRAINT]
    if len(aims) != 1 or aims[0].type != "TRACK_TO" or aims[0].target is None:
        return None, True
    aim = aims[0]
    plain = aim.influence == 1.0 and not aim.use_target_z and not aim.subtarget
    plain &= (aim.track_axis, aim.up_axis) == ("TRACK_NEGATIVE_Z", "UP_Y")
    spaces = (aim.owner_space, aim.target_space)
    up = np.array([0.0, 0.0, 1.0])
    if spaces == ("CUSTOM", "CUSTOM") and aim.space_object is not None:
        up = np.array(aim.space_object.matrix_world, dtype=np.float64)[:3, 2]
    elif spaces != ("WORLD", "WORLD"):
        plain = False
    return aim.target if plain else None, bool(np.abs(up - conversion.axes[:, 2]).max() < _ROUNDING)


def upright_spaces(items: Iterable[Any]) -> set[Any]:
    """Return the objects that an import created for upright cameras because the file had other axes."""
    return {each.space_object for obj in items for each in obj.constraints if each.name == AIM} - {None}


def find_source(gathered: Gathered, conversion: Conversion) -> None:
    """Find the node from which the object was imported, if the conversion is unchanged."""
    try:
        kept = recall(gathered.obj)
    except DamagedStateError:
        gathered.add_note("IMPORT_STATE_DAMAGED")
        return
    if kept is None or kept[0].kind != gathered.kind or not kept[1].is_like(conversion):
        return
    node, before, choices = kept
    frame = Frame(before, gathered.parent_is_aimed, gathered.kind in three_ds.TARGET_KINDS)
    planned = Planned(node_name(node), node, None, "", frame)
    add_keys(planned, node.tracks, choices, lambda *_code, **_track: None)
    gathered.source, gathered.planned = node, planned


class Writer:
    """Writer of tracks to nodes. Each method raises AnimationError if a track cannot be written."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        conversion: Conversion,
        samples_others: bool,
        matrices: Matrices,
        limit: SampleLimit,
    ) -> None:
        self.scene = scene
        self.conversion = conversion
        self.samples_others = samples_others
        self.matrices = matrices
        self.limit = limit

    def write(self, gathered: Gathered, reason: Finding | None) -> None:
        if reason:
            gathered.add_note("MOTION_SAMPLED", reason)
        kind = gathered.kind
        if gathered.obj is None:
            self._sight(gathered)
            return
        if gathered.colored is not None:
            datablock, path = gathered.colored
            self._color(gathered, self._tracks(datablock, None), path)
            return
        self._place(gathered, reason)
        if kind == "OBJECT":
            self._hide(gathered)
            self._morph(gathered)
        elif kind == "CAMERA":
            self._view(gathered)
            self._roll(gathered)
        elif kind == "LIGHT":
            self._color(gathered, self._tracks(gathered.obj.data, gathered.obj))
        elif kind == "SPOTLIGHT":
            tracks = self._tracks(gathered.obj.data, gathered.obj)
            self._color(gathered, tracks)
            self._cones(gathered, tracks)
            self._roll(gathered)

    def _tracks(self, datablock: bpy.types.ID, obj: bpy.types.Object | None) -> Tracks:
        return Tracks(datablock, obj, self.scene, self.samples_others, self.limit, self.conversion)

    def _add(self, gathered: Gathered, kind: str, quantity: str, now: Keys, values: Float64Array) -> None:
        """Add the imported track if its keys are unchanged. Otherwise add a track of `values`, in file units."""
        source, then = gathered.source, None if gathered.planned is None else gathered.planned.keys.get(quantity)
        read = None if source is None else source.track(kind)
        if read is not None and then is not None and _same(now, then):
            gathered.tracks.append(read)
        elif source is None or read is not None or len(now) > 1 or (now.values != _DEFAULTS.get(kind)).any():
            gathered.tracks.append(numbers_track(kind, now.with_values(values), self.conversion, gathered.add_note))

    def _place(self, gathered: Gathered, reason: Finding | None) -> None:
        obj, add_note = gathered.obj, gathered.add_note
        frame = Frame(self.conversion, gathered.parent_is_aimed, gathered.kind in three_ds.TARGET_KINDS)
        if reason:
            places, turns, scales, shears = self.matrices.local(obj, gathered.parent)
            if shears:
                add_note("SHEARED")
            frames = self.matrices.frames
            location, scale = sampled(frames, places), sampled(frames, scales)
            self._add(gathered, "POSITION", "", location, frame.positions_in_file(location.values))
            if gathered.kind == "OBJECT":
                rotation = sampled_turns(frames, frame.rotations_in_file(turns))
                gathered.tracks.append(turns_track(rotation, self.conversion, add_note))
                self._add(gathered, "SCALE", "", scale, frame.scales_in_file(scale.values))
            return
        tracks = self._tracks(obj, obj)
        inverse = None if gathered.parent is None else inverse_of(obj)
        place, turn, factor = inverse or (np.zeros(3), _NO_TURN, 1.0)
        location = tracks.numbers("location", add_note)
        location = location.with_values(place + factor * location.values @ rotations.to_matrix(turn).T)
        self._add(gathered, "POSITION", "location", location, frame.positions_in_file(location.values))
        if gathered.kind != "OBJECT":
            return
        self._turns(gathered, tracks, turn, frame)
        scale = tracks.numbers("scale", add_note)
        scale = scale.with_values(factor * scale.values)
        self._add(gathered, "SCALE", "scale", scale, frame.scales_in_file(scale.values))

    def _turns(self, gathered: Gathered, tracks: Tracks, outer: Float64Array, frame: Frame) -> None:
        """Add the rotation track. `outer` is applied after the object's own rotation."""
        obj, add_note = gathered.obj, gathered.add_note
        rotation = tracks.rotation(obj, add_note)
        if rotation.settings is not None and len(rotation.keys) > 1:
            gathered.construction = rotation.settings.construction
        then = None if gathered.planned is None else gathered.planned.rotation
        read = None if gathered.source is None else gathered.source.track("ROTATION")
        if then is not None and read is not None and rotation.is_like(then) and (outer == _NO_TURN).all():
            gathered.tracks.append(read)
            return
        turns = tracks.turns(obj, add_note)
        values = turns.values.copy()
        values[:, 1:] = frame.axes_in_file(turns.values[:, 1:] @ rotations.to_matrix(outer).T)
        first = rotations.from_axis_angle(turns.values[0, 1:], turns.values[0, 0])
        axis, angle = rotations.to_axis_angle(
            frame.rotations_in_file(rotations.multiply(outer, first)[np.newaxis])[0], values[0, 1:]
        )
        if gathered.source is not None and read is None and len(turns) == 1 and abs(angle) < _ROUNDING:
            return
        values[0] = angle, *axis
        gathered.tracks.append(turns_track(turns.with_values(values), self.conversion, add_note))

    def _hide(self, gathered: Gathered) -> None:
        obj = gathered.obj
        now = _visibility(obj, self.scene, self.limit)
        hidden = bool(now.values[0, 0])
        gathered.flags = (gathered.flags[0] & ~three_ds.HIDDEN | (three_ds.HIDDEN if hidden else 0), gathered.flags[1])
        then = None if gathered.planned is None else gathered.planned.hidden
        read = None if gathered.source is None else gathered.source.track("HIDE")
        if read is not None and then is not None and _same(now, then):
            gathered.flags = gathered.source.flags if gathered.source is not None else gathered.flags
            gathered.tracks.append(read)
            return
        turned = np.flatnonzero(np.diff(now.values[:, 0])) + 1
        if len(turned):
            keys = Keys(now.frames[turned], np.zeros((len(turned), 0)), np.zeros((5, len(turned))))
            gathered.tracks.append(numbers_track("HIDE", keys, self.conversion, gathered.add_note))

    def _morph(self, gathered: Gathered) -> None:
        """Write the markers of an imported morph track."""
        read = None if gathered.source is None else gathered.source.track("MORPH")
        action = gathered.obj.animation_data.action if gathered.obj.animation_data else None
        if read is None or action is None or gathered.planned is None:
            return
        now = [(marker.frame, marker.name) for marker in action.pose_markers]
        if now == [(round(frame), name) for frame, name in gathered.planned.markers]:
            gathered.tracks.append(read)
        else:
            gathered.add_note("MARKERS_CHANGED")

    def _view(self, gathered: Gathered) -> None:
        camera, add_note = gathered.obj.data, gathered.add_note
        tracks = self._tracks(camera, gathered.obj)
        if tracks.is_keyed('["fov"]') and is_driven(camera, "lens", LENS):
            fov = tracks.numbers('["fov"]', add_note)
        elif tracks.moves("lens"):
            frames, lens = tracks.played("lens")
            fov = sampled(frames, fov_of(lens, width_seen(camera, self.scene)))
            add_note("LENS_SAMPLED", len(fov))
        else:
            fov = still(fov_of(camera.lens, width_seen(camera, self.scene)))
        if camera.type != "PERSP":
            kind = camera.type.lower()
            add_note("VIEW_AS_PERSPECTIVE", kind)
        self._add(gathered, "FOV", "fov", fov, fov.values)

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
        self._add(gathered, "ROLL", "roll", roll, roll.values)

    def _sight(self, gathered: Gathered) -> None:
        """Add a target to a node without one."""
        world = self.matrices.world(gathered.aimed_by)
        places = sampled(self.matrices.frames, world[:, :3, 3] - _SIGHT * _unit(world[:, :3, 2]))
        places = places.with_values(self.conversion.places_in_file(places.values))
        gathered.tracks.append(numbers_track("POSITION", places, self.conversion, gathered.add_note))

    def _color(self, gathered: Gathered, tracks: Tracks, path: str = "color") -> None:
        color = tracks.numbers(path, gathered.add_note)
        # The color of a node has an alpha channel.
        self._add(gathered, "COLOR", "color", color, color.values[:, :3])

    def _cones(self, gathered: Gathered, tracks: Tracks) -> None:
        light, add_note = gathered.obj.data, gathered.add_note
        if is_driven(light, "spot_size", SIZE) and is_driven(light, "spot_blend", BLEND):
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
        self._add(gathered, "HOTSPOT", "hotspot", hotspot, hotspot.values)
        self._add(gathered, "FALLOFF", "falloff", falloff, falloff.values)


_NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])


def _same(now: Keys, then: Keys) -> bool:
    """Check whether the keys, or the value of a property without keys, equal the imported keys within rounding."""
    if now.is_still and then.is_still:
        return bool(
            np.abs(now.values - then.values).max(initial=0.0) <= _ROUNDING * np.abs(then.values).max(initial=1.0)
        )
    return now.is_like(then)


def _visibility(obj: bpy.types.Object, scene: bpy.types.Scene, limit: SampleLimit) -> Keys:
    """Return keys, or samples if there is extrapolation, that are 1 while the object is hidden in renders."""
    fcurve = curves_of(obj).get(("hide_render", 0))
    if fcurve is None:
        return still(np.array([float(obj.hide_render)]))
    span = span_of_keys([fcurve])
    if go_on([fcurve], span, scene):
        span = span.with_frames_of(scene)
        limit.take(span.number, obj.name, "hide_render")
        frames = span.frames()
        # Blender treats all values below 1 as off.
        values = np.array([[float(fcurve.evaluate(frame) >= 1.0)] for frame in frames.tolist()])
        return Keys(frames, values, np.zeros((5, len(frames))))
    co = np.array([point.co for point in fcurve.keyframe_points])
    return Keys(co[:, 0], co[:, 1:].round(), np.zeros((5, len(co))))


def is_driven(datablock: Any, path: str, expression: str) -> bool:
    """Check whether the property has a driver from an import."""
    drivers = datablock.animation_data.drivers if datablock.animation_data else ()
    return any(curve.data_path == path and curve.driver.expression.endswith(expression) for curve in drivers)


def width_seen(camera: bpy.types.Camera, scene: bpy.types.Scene) -> float:
    """Return the visible sensor width in mm, which is smaller if the sensor is fitted to the image height."""
    render = scene.render
    width, height = render.resolution_x * render.pixel_aspect_x, render.resolution_y * render.pixel_aspect_y
    if camera.sensor_fit == "HORIZONTAL" or (camera.sensor_fit == "AUTO" and width >= height):
        return float(camera.sensor_width)
    fitted = camera.sensor_height if camera.sensor_fit == "VERTICAL" else camera.sensor_width
    return float(fitted * width / height)


def fov_of(lens: npt.ArrayLike, width: float) -> Float64Array:
    """Return the horizontal fields of view, in degrees, of focal lengths."""
    return np.degrees(2.0 * np.arctan(width / 2.0 / np.asarray(lens, dtype=np.float64)))


def hotspot_of(blend: npt.ArrayLike, size: npt.ArrayLike) -> Float64Array:
    """Return the cone angle, in radians, at which a light with this blend begins to fade."""
    edge = np.cos(np.asarray(size, dtype=np.float64) / 2.0)
    return np.asarray(2.0 * np.arccos(np.clip(edge + np.asarray(blend) * (1.0 - edge), -1.0, 1.0)))


def _unit(vectors: Float64Array) -> Float64Array:
    return rotations.unit_vectors(vectors)[0]


def rolls_of(worlds: Float64Array) -> Float64Array:
    """Return the continuous roll angles, in radians, of axes (n, 3, 3) that look along their -Z.

    Source: docs/formulas, "Nodes of 3D Studio files".
    """
    right, back = _unit(worlds[:, :, 0]), _unit(worlds[:, :, 2])
    level = np.cross([0.0, 0.0, 1.0], back)
    upright = np.cross(back, level)
    return np.unwrap(np.arctan2(np.einsum("ij,ij->i", right, upright), np.einsum("ij,ij->i", right, level)))
