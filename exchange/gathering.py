# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of Blender as nodes of a file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..animation import Refusal
from ..animation.channels import channels_of
from ..formats import three_ds
from ..interp import rotations
from .applying import BLEND, LENS, ROLL_CONSTRAINT, SIZE
from .cleaning import Keys, Say, still
from .conversion import Conversion, FloatArray, Frame
from .filing import numbers_track, turns_track
from .keyed import Tracks, sampled, sampled_turns
from .matrices import Matrices, inverse_of
from .planning import Planned, add_keys, node_name
from .sources import recall

HIDDEN = 0x0800
TARGET_KINDS = {"CAMERA": "CAMERA_TARGET", "SPOTLIGHT": "LIGHT_TARGET"}
_DEFAULTS = {"POSITION": 0.0, "SCALE": 1.0, "ROLL": 0.0}
_SIGHT = 10.0
"""How far before a camera without a target its target is put."""
_ROUNDING = 1e-6
"""What float32, radians for degrees, and lenses for angles leave of a value without keys."""


@dataclass(eq=False)
class Gathered:
    """An object, and the node that it becomes."""

    item: Any
    kind: str
    name: bytes
    parent: Any
    """The object that it hangs from in the file, or None."""
    say: Say
    aimed_by: Any = None
    """Of a target: what looks at it."""
    target: Any = None
    """The object that it looks at."""
    instance: bytes | None = None
    flags: tuple[int, int] = (0x4000, 0)
    tracks: list[three_ds.Track] = field(default_factory=list)
    source: three_ds.Node | None = None
    """The node that it was imported from."""
    planned: Planned | None = None
    """That node as it was imported."""


def target_of(item: Any) -> Any:
    """The object that a camera or light looks at, upright; None where it has no such constraint, or others too."""
    live = [constraint for constraint in item.constraints if constraint.enabled]
    aims = [constraint for constraint in live if constraint.name != ROLL_CONSTRAINT]
    if len(aims) != 1 or aims[0].type != "TRACK_TO" or aims[0].target is None:
        return None
    aim = aims[0]
    plain = aim.influence == 1.0 and not aim.use_target_z and not aim.subtarget
    plain &= (aim.track_axis, aim.up_axis) == ("TRACK_NEGATIVE_Z", "UP_Y")
    spaces = (aim.owner_space, aim.target_space)
    return aim.target if plain and spaces == ("WORLD", "WORLD") else None


def find_source(gathered: Gathered, conversion: Conversion) -> None:
    """Look up the node that the object was imported from, where it would be written by the same conversion."""
    kept = recall(gathered.item)
    if kept is None or kept[0].kind != gathered.kind or not kept[1].is_like(conversion):
        return
    node, before, choices = kept
    planned = Planned(node_name(node), node, None, "", Frame(before))
    add_keys(planned, node.tracks, choices, lambda _what: None)
    gathered.source, gathered.planned = node, planned


class Writer:
    """Adds tracks to nodes. Each method raises Refusal where a track can't be written."""

    def __init__(self, conversion: Conversion, samples_others: bool, matrices: Matrices) -> None:
        self.conversion = conversion
        self.samples_others = samples_others
        self.matrices = matrices

    def write(self, gathered: Gathered, why_sampled: str) -> None:
        if why_sampled:
            gathered.say(f"{why_sampled}: its motion is written as samples")
        kind = gathered.kind
        if gathered.item is None:
            self._sight(gathered)
            return
        if kind == "AMBIENT":
            self._color(gathered, self._tracks(gathered.item))
            return
        self._place(gathered, why_sampled)
        if kind == "OBJECT":
            self._hide(gathered)
            self._morph(gathered)
        elif kind == "CAMERA":
            self._view(gathered)
            self._roll(gathered)
        elif kind == "LIGHT":
            self._color(gathered, self._tracks(gathered.item.data))
        elif kind == "SPOTLIGHT":
            tracks = self._tracks(gathered.item.data)
            self._color(gathered, tracks)
            self._cones(gathered, tracks)
            self._roll(gathered)

    def _tracks(self, datablock: Any) -> Tracks:
        return Tracks(datablock, self.samples_others)

    def _add(self, gathered: Gathered, kind: str, quantity: str, now: Keys, values: FloatArray) -> None:
        """Add the track as it was read, where the keys are still `then`'s; else that of these values, the file's."""
        source, then = gathered.source, None if gathered.planned is None else gathered.planned.keys.get(quantity)
        read = None if source is None else source.track(kind)
        if read is not None and then is not None and _same(now, then):
            gathered.tracks.append(read)
        elif source is None or read is not None or len(now) > 1 or (now.values != _DEFAULTS.get(kind)).any():
            gathered.tracks.append(numbers_track(kind, now.with_values(values), self.conversion, gathered.say))

    def _place(self, gathered: Gathered, why_sampled: str) -> None:
        item, say, size = gathered.item, gathered.say, self.conversion.scale
        if why_sampled:
            places, turns, scales, shears = self.matrices.local(item, gathered.parent)
            if shears:
                say("it is sheared, which the file can't say: it is written without")
            frames = self.matrices.frames
            location, scale = sampled(frames, places), sampled(frames, scales)
            self._add(gathered, "POSITION", "", location, location.values / size)
            if gathered.kind == "OBJECT":
                rotation = sampled_turns(frames, turns)
                gathered.tracks.append(turns_track(rotation, self.conversion, say))
                self._add(gathered, "SCALE", "", scale, scale.values)
            return
        tracks = self._tracks(item)
        inverse = None if gathered.parent is None else inverse_of(item)
        place, turn, factor = inverse or (np.zeros(3), _NO_TURN, 1.0)
        location = tracks.numbers("location", say)
        location = location.with_values(place + factor * location.values @ rotations.to_matrix(turn).T)
        self._add(gathered, "POSITION", "location", location, location.values / size)
        if gathered.kind != "OBJECT":
            return
        self._turns(gathered, tracks, turn)
        scale = tracks.numbers("scale", say)
        scale = scale.with_values(factor * scale.values)
        self._add(gathered, "SCALE", "scale", scale, scale.values)

    def _turns(self, gathered: Gathered, tracks: Tracks, outer: FloatArray) -> None:
        """Add the rotation track; `outer` turns what the object's own rotation gives."""
        item, say = gathered.item, gathered.say
        said = tracks.rotation(item)
        then = None if gathered.planned is None else gathered.planned.rotation
        read = None if gathered.source is None else gathered.source.track("ROTATION")
        if then is not None and read is not None and said.is_like(then) and (outer == _NO_TURN).all():
            gathered.tracks.append(read)
            return
        turns = tracks.turns(item, say)
        first = rotations.from_axis_angle(turns.values[0, 1:], turns.values[0, 0])
        if gathered.source is not None and read is None and len(turns) == 1 and first[0] == 1.0:
            return
        values = turns.values.copy()
        values[:, 1:] = turns.values[:, 1:] @ rotations.to_matrix(outer).T
        axis, angle = rotations.to_axis_angle(rotations.multiply(outer, first), values[0, 1:])
        values[0] = angle, *axis
        gathered.tracks.append(turns_track(turns.with_values(values), self.conversion, say))

    def _hide(self, gathered: Gathered) -> None:
        item = gathered.item
        now = _visibility(item)
        hidden = bool(now.values[0, 0])
        gathered.flags = (gathered.flags[0] & ~HIDDEN | (HIDDEN if hidden else 0), gathered.flags[1])
        then = None if gathered.planned is None else gathered.planned.hidden
        read = None if gathered.source is None else gathered.source.track("HIDE")
        if read is not None and then is not None and _same(now, then):
            gathered.flags = gathered.source.flags if gathered.source is not None else gathered.flags
            gathered.tracks.append(read)
            return
        turned = np.flatnonzero(np.diff(now.values[:, 0])) + 1
        if len(turned):
            keys = Keys(now.frames[turned], np.zeros((len(turned), 0)), np.zeros((5, len(turned))))
            gathered.tracks.append(numbers_track("HIDE", keys, self.conversion, gathered.say))

    def _morph(self, gathered: Gathered) -> None:
        """Write the markers of what was a morph track."""
        read = None if gathered.source is None else gathered.source.track("MORPH")
        action = gathered.item.animation_data.action if gathered.item.animation_data else None
        if read is None or action is None or gathered.planned is None:
            return
        now = [(marker.frame, marker.name) for marker in action.pose_markers]
        if now == [(round(frame), name) for frame, name in gathered.planned.markers]:
            gathered.tracks.append(read)
        else:
            gathered.say("morph track: its markers were changed, so it is left out")

    def _view(self, gathered: Gathered) -> None:
        camera, say = gathered.item.data, gathered.say
        tracks = self._tracks(camera)
        if tracks.is_keyed('["fov"]') and is_driven(camera, "lens", LENS):
            fov = tracks.numbers('["fov"]', say)
        elif tracks.is_keyed("lens"):
            frames, lens = tracks.played("lens")
            fov = sampled(frames, np.degrees(2.0 * np.arctan(camera.sensor_width / 2.0 / lens)))
            say(f"its lens has keys: the field of view is written as {len(fov)} samples of it")
        else:
            fov = still(np.array([math.degrees(camera.angle_x)]))
        if camera.type != "PERSP":
            say(f"its view is {camera.type.lower()}, which the file can't say: it is written as perspective")
        self._add(gathered, "FOV", "fov", fov, fov.values)

    def _roll(self, gathered: Gathered) -> None:
        item, say = gathered.item, gathered.say
        constraint = item.constraints.get(ROLL_CONSTRAINT)
        if gathered.target is None:
            roll = sampled(self.matrices.frames, np.degrees(_rolls(self.matrices.world(item)))[:, np.newaxis])
        elif constraint is not None and self._tracks(item).is_keyed('["roll"]'):
            roll = self._tracks(item).numbers('["roll"]', say)
        else:
            roll = still(np.array([0.0 if constraint is None else math.degrees(constraint.to_min_z_rot)]))
        self._add(gathered, "ROLL", "roll", roll, roll.values)

    def _sight(self, gathered: Gathered) -> None:
        """A target for what has none."""
        world = self.matrices.world(gathered.aimed_by)
        places = sampled(self.matrices.frames, world[:, :3, 3] - _SIGHT * _unit(world[:, :3, 2]))
        gathered.tracks.append(
            numbers_track(
                "POSITION", places.with_values(places.values / self.conversion.scale), self.conversion, gathered.say
            )
        )

    def _color(self, gathered: Gathered, tracks: Tracks) -> None:
        color = tracks.numbers("color", gathered.say)
        self._add(gathered, "COLOR", "color", color, color.values)

    def _cones(self, gathered: Gathered, tracks: Tracks) -> None:
        light, say = gathered.item.data, gathered.say
        if is_driven(light, "spot_size", SIZE) and is_driven(light, "spot_blend", BLEND):
            hotspot, falloff = (tracks.numbers(f'["{name}"]', say) for name in ("hotspot", "falloff"))
        elif tracks.is_keyed("spot_blend") or tracks.is_keyed("spot_size"):
            size = tracks.numbers("spot_size", say)
            falloff = size.with_values(np.degrees(size.values))
            frames, played = tracks.played("spot_blend", "spot_size")
            hotspot = sampled(frames, np.degrees(_hotspot(played[:, :1], played[:, 1:])))
            say(f"its blend or size has keys: the hotspot is written as {len(hotspot)} samples of them")
        else:
            inner = _hotspot(np.array([light.spot_blend]), np.array([light.spot_size]))
            hotspot, falloff = still(np.degrees(inner)), still(math.degrees(light.spot_size))
        self._add(gathered, "HOTSPOT", "hotspot", hotspot, hotspot.values)
        self._add(gathered, "FALLOFF", "falloff", falloff, falloff.values)


_NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])


def _same(now: Keys, then: Keys) -> bool:
    """Whether keys are those that an import wrote, in float32; of a value without keys, the value, but for rounding."""
    if now.is_still and then.is_still:
        return bool(
            np.abs(now.values - then.values).max(initial=0.0) <= _ROUNDING * np.abs(then.values).max(initial=1.0)
        )
    return now.is_like(then)


def _visibility(item: Any) -> Keys:
    """1 where the object is hidden in renders."""
    try:
        curves = [fcurve for fcurve in channels_of(item) if fcurve.data_path == "hide_render" and not fcurve.mute]
    except Refusal:
        curves = []
    if not curves or not len(curves[0].keyframe_points):
        return still(np.array([float(item.hide_render)]))
    co = np.array([point.co for point in curves[0].keyframe_points])
    return Keys(co[:, 0], co[:, 1:].round(), np.zeros((5, len(co))))


def is_driven(datablock: Any, path: str, expression: str) -> bool:
    """Whether the property has the driver that an import makes."""
    drivers = datablock.animation_data.drivers if datablock.animation_data else ()
    return any(curve.data_path == path and curve.driver.expression.endswith(expression) for curve in drivers)


def _hotspot(blend: FloatArray, size: FloatArray) -> FloatArray:
    """The cone, radians, where a light of that blend begins to fade."""
    edge = np.cos(size / 2.0)
    return 2.0 * np.arccos(np.clip(edge + blend * (1.0 - edge), -1.0, 1.0))


def _unit(vectors: FloatArray) -> FloatArray:
    return rotations.unit_vectors(vectors)[0]


def _rolls(worlds: FloatArray) -> FloatArray:
    """The rolls, radians, of what looks along its -Z, going on from one to the next."""
    right, back = _unit(worlds[:, :3, 0]), _unit(worlds[:, :3, 2])
    level = np.cross([0.0, 0.0, 1.0], back)
    upright = np.cross(back, level)
    return np.unwrap(np.arctan2(np.einsum("ij,ij->i", right, upright), np.einsum("ij,ij->i", right, level)))
