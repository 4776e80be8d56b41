# SPDX-License-Identifier: GPL-3.0-or-later
"""Add the tracks of Blender's objects to the nodes of a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...animation.fcurves.keyframes import Float64Array
from ...animation.report import Finding
from ...animation.sampling.properties import curves_of
from ...formats import three_ds
from ...interp import rotations
from ..conversion import Conversion, NodeSpace, fov_of, hotspot_of, rolls_of, width_seen
from ..importing.apply_plan import BLEND, LENS, ROLL_CONSTRAINT, SIZE
from ..keys import Keys, still
from .file_tracks import NO_TURN, numbers_track, turns_track
from .gather_nodes import ExportNode
from .keys_of_tracks import DatablockTracks
from .samples import (
    Matrices,
    ParentInverse,
    SampleLimit,
    change_outside,
    parent_inverse_of,
    sampled,
    sampled_turns,
    span_of_keys,
)

_DEFAULTS = {"POSITION": 0.0, "SCALE": 1.0, "ROLL": 0.0}
"""The values of components that a node has without a track."""
_TARGET_DISTANCE = 10.0
"""Blender units. Distance of the target that is created for a camera without a target."""
_NO_INVERSE = ParentInverse(np.zeros(3), NO_TURN, 1.0)
_ROUNDING = 1e-6
"""Radians. Smaller rotations are float32 rounding."""


@dataclass(frozen=True)
class NodeWriter:
    """The conversion of Blender's tracks. Each method raises AnimationError if a track cannot be written."""

    scene: bpy.types.Scene
    conversion: Conversion
    matrices: Matrices
    limit: SampleLimit

    def write(self, node: ExportNode, reason: Finding | None) -> None:
        """Add the tracks of the node. `reason` states why the object's transforms must be sampled, if they must."""
        if reason:
            node.add_note("MOTION_SAMPLED", reason)
        if node.obj is None:
            self._add_target_position(node)
        elif node.colored is not None:
            datablock, path = node.colored
            self._add_color(node, self._tracks(node, datablock), path)
        else:
            add_transforms = self._add_sampled_transforms if reason else self._add_keyed_transforms
            add_transforms(node, node.space(self.conversion))
            self._add_properties(node)

    def _add_properties(self, node: ExportNode) -> None:
        """Add the tracks other than transforms."""
        if node.kind == "OBJECT":
            self._add_visibility(node)
            self._add_morph(node)
        elif node.kind == "CAMERA":
            self._add_fov(node)
            self._add_roll(node)
        elif node.kind in ("LIGHT", "SPOTLIGHT"):
            tracks = self._tracks(node, node.obj.data)
            self._add_color(node, tracks)
            if node.kind == "SPOTLIGHT":
                self._add_cones(node, tracks)
                self._add_roll(node)

    def _tracks(self, node: ExportNode, datablock: bpy.types.ID) -> DatablockTracks:
        obj = node.obj if node.colored is None else None
        return DatablockTracks(datablock, obj, self.scene, self.limit, self.conversion, node.add_note)

    def _add_track(self, node: ExportNode, kind: str, keys: Keys, values: Float64Array) -> None:
        """Add the imported track if its keys are unchanged, or else a track of `values`, which are in file units."""
        unchanged = node.imported.unchanged_track(kind, keys)
        is_default = len(keys) == 1 and bool((keys.values == _DEFAULTS.get(kind)).all())
        if unchanged is not None:
            node.tracks.append(unchanged)
        elif not (is_default and node.imported.lacks(kind)):
            node.tracks.append(numbers_track(kind, keys.with_values(values), self.conversion, node.add_note))

    def _add_sampled_transforms(self, node: ExportNode, space: NodeSpace) -> None:
        """Add tracks of samples of the object's motion relative to its parent."""
        transforms = self.matrices.local(node.obj, node.parent)
        if transforms.has_shear:
            node.add_note("SHEARED")
        frames = self.matrices.frames
        location, scale = sampled(frames, transforms.locations), sampled(frames, transforms.scales)
        self._add_track(node, "POSITION", location, space.positions_in_file(location.values))
        if node.kind == "OBJECT":
            rotation = sampled_turns(frames, space.rotations_in_file(transforms.quaternions))
            node.tracks.append(turns_track(rotation, self.conversion, node.add_note))
            self._add_track(node, "SCALE", scale, space.scales_in_file(scale.values))

    def _add_keyed_transforms(self, node: ExportNode, space: NodeSpace) -> None:
        """Add tracks of the object's own keys, to which its parent inverse is applied."""
        tracks = self._tracks(node, node.obj)
        inverse = (None if node.parent is None else parent_inverse_of(node.obj)) or _NO_INVERSE
        location = tracks.value_keys("location")
        turned = inverse.factor * location.values @ rotations.to_matrix(inverse.rotation).T
        location = location.with_values(inverse.location + turned)
        self._add_track(node, "POSITION", location, space.positions_in_file(location.values))
        if node.kind == "OBJECT":
            self._add_rotation(node, tracks, inverse.rotation, space)
            scale = tracks.value_keys("scale")
            scale = scale.with_values(inverse.factor * scale.values)
            self._add_track(node, "SCALE", scale, space.scales_in_file(scale.values))

    def _add_rotation(self, node: ExportNode, tracks: DatablockTracks, outer: Float64Array, space: NodeSpace) -> None:
        """Add the rotation track. `outer` is a quaternion that is applied after the object's own rotation."""
        rotation = tracks.rotation_keys()
        if rotation.settings is not None and len(rotation.keys) > 1:
            node.construction = rotation.settings.construction
        unchanged = node.imported.unchanged_rotation(rotation)
        if unchanged is not None and (outer == NO_TURN).all():
            node.tracks.append(unchanged)
            return
        turns = tracks.turn_keys()
        values = turns.values.copy()
        values[:, 1:] = space.axes_in_file(turns.values[:, 1:] @ rotations.to_matrix(outer).T)
        # The first key is an orientation, not a turn between keys.
        first = rotations.from_axis_angle(turns.values[0, 1:], turns.values[0, 0])
        first_in_file = space.rotations_in_file(rotations.multiply(outer, first)[np.newaxis])[0]
        axis, angle = rotations.to_axis_angle(first_in_file, values[0, 1:])
        values[0] = angle, *axis
        is_default = len(turns) == 1 and abs(angle) < _ROUNDING
        if not (is_default and node.imported.lacks("ROTATION")):
            node.tracks.append(turns_track(turns.with_values(values), self.conversion, node.add_note))

    def _add_visibility(self, node: ExportNode) -> None:
        """Write the visibility at the first key to the flags, and a key for each change to a track."""
        visibility = _visibility_keys(node.obj, self.scene, self.limit)
        source, unchanged = node.imported.node, node.imported.unchanged_track("HIDE", visibility)
        if source is not None and unchanged is not None:
            node.flags = source.flags
            node.tracks.append(unchanged)
            return
        is_hidden = bool(visibility.values[0, 0])
        first, second = node.flags
        node.flags = first & ~three_ds.HIDDEN | (three_ds.HIDDEN if is_hidden else 0), second
        changes = np.flatnonzero(np.diff(visibility.values[:, 0])) + 1
        if len(changes):
            keys = Keys(visibility.frames[changes], np.zeros((len(changes), 0)), np.zeros((5, len(changes))))
            node.tracks.append(numbers_track("HIDE", keys, self.conversion, node.add_note))

    def _add_morph(self, node: ExportNode) -> None:
        source_track = None if node.imported.node is None else node.imported.node.track("MORPH")
        action = node.obj.animation_data.action if node.obj.animation_data else None
        if source_track is None or action is None:
            return
        if node.imported.has_markers([(marker.frame, marker.name) for marker in action.pose_markers]):
            node.tracks.append(source_track)
        else:
            node.add_note("MARKERS_CHANGED")

    def _add_fov(self, node: ExportNode) -> None:
        """Write the imported field of view, or the field of view of the lens."""
        camera = node.obj.data
        tracks = self._tracks(node, camera)
        if tracks.is_keyed('["fov"]') and _has_driver(camera, "lens", LENS):
            fov = tracks.value_keys('["fov"]')
        elif tracks.is_animated("lens"):
            frames, lens = tracks.sampled_values("lens")
            fov = sampled(frames, fov_of(lens, width_seen(camera, self.scene)))
            node.add_note("LENS_SAMPLED", len(fov))
        else:
            fov = still(fov_of(camera.lens, width_seen(camera, self.scene)))
        if camera.type != "PERSP":
            node.add_note("VIEW_AS_PERSPECTIVE", camera.type.lower())
        self._add_track(node, "FOV", fov, fov.values)

    def _add_roll(self, node: ExportNode) -> None:
        """Write the roll about the line to the target."""
        constraint = node.obj.constraints.get(ROLL_CONSTRAINT)
        if node.has_own_roll:
            worlds = self.conversion.axes.T @ self.matrices.world(node.obj)[:, :3, :3]
            roll = sampled(self.matrices.frames, np.degrees(rolls_of(worlds))[:, np.newaxis])
        elif constraint is not None and (tracks := self._tracks(node, node.obj)).is_animated('["roll"]'):
            roll = tracks.value_keys('["roll"]')
        else:
            roll = still(0.0 if constraint is None else math.degrees(constraint.to_min_z_rot))
        self._add_track(node, "ROLL", roll, roll.values)

    def _add_target_position(self, node: ExportNode) -> None:
        """Add a target to a node without one."""
        world = self.matrices.world(node.aimed_by)
        targets = world[:, :3, 3] - _TARGET_DISTANCE * rotations.unit_vectors(world[:, :3, 2])[0]
        location = sampled(self.matrices.frames, node.space(self.conversion).positions_in_file(targets))
        node.tracks.append(numbers_track("POSITION", location, self.conversion, node.add_note))

    def _add_color(self, node: ExportNode, tracks: DatablockTracks, path: str = "color") -> None:
        color = tracks.value_keys(path)
        # The color of a node has an alpha channel.
        self._add_track(node, "COLOR", color, color.values[:, :3])

    def _add_cones(self, node: ExportNode, tracks: DatablockTracks) -> None:
        """Write the imported cones of a spotlight, or the cones of its size and blend."""
        light = node.obj.data
        if _has_driver(light, "spot_size", SIZE) and _has_driver(light, "spot_blend", BLEND):
            hotspot, falloff = (tracks.value_keys(f'["{name}"]') for name in ("hotspot", "falloff"))
        elif tracks.is_animated("spot_blend") or tracks.is_animated("spot_size"):
            size = tracks.value_keys("spot_size")
            falloff = size.with_values(np.degrees(size.values))
            frames, played = tracks.sampled_values("spot_blend", "spot_size")
            hotspot = sampled(frames, np.degrees(hotspot_of(played[:, :1], played[:, 1:])))
            node.add_note("HOTSPOT_SAMPLED", len(hotspot))
        else:
            hotspot = still(np.degrees(hotspot_of(light.spot_blend, light.spot_size)))
            falloff = still(math.degrees(light.spot_size))
        self._add_track(node, "HOTSPOT", hotspot, hotspot.values)
        self._add_track(node, "FALLOFF", falloff, falloff.values)


def _has_driver(datablock: Any, path: str, expression: str) -> bool:
    """Check whether the property has a driver from an import."""
    drivers = datablock.animation_data.drivers if datablock.animation_data else ()
    return any(curve.data_path == path and curve.driver.expression.endswith(expression) for curve in drivers)


def _visibility_keys(obj: bpy.types.Object, scene: bpy.types.Scene, limit: SampleLimit) -> Keys:
    """Return keys that are 1 while the object is hidden in renders.

    A curve that is not stepped, or that continues outside its keys, is sampled.
    """
    fcurve = curves_of(obj).get("hide_render", {}).get(0)
    if fcurve is None:
        return still(float(obj.hide_render))
    points = list(fcurve.keyframe_points)
    span = span_of_keys([fcurve])
    goes_on = change_outside([fcurve], span, scene)
    if goes_on:
        span = span.with_frames_of(scene)
    if goes_on or not points or any(point.interpolation != "CONSTANT" for point in points[:-1]):
        limit.take(span.frame_count, obj.name, "hide_render")
        frames = span.frames()
    else:
        frames = np.array([point.co.x for point in points])
    # Blender treats all values below 1 as off.
    values = np.array([[float(fcurve.evaluate(frame) >= 1.0)] for frame in frames.tolist()])
    return Keys(frames, values, np.zeros((5, len(frames))))
