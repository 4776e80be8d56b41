# SPDX-License-Identifier: GPL-3.0-or-later
"""Read models, animation stacks, and the layers and curves of each stack, by following connections between objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..interp import Float64Array, n_, rotations
from ..motion import MotionError, MotionFile, Node, NodeMotion, Take, find_cycle
from .binary import Record, read_records
from .curves import is_extrapolated, read_curve
from .layers import Layer, LayerCurves
from .transforms import LOCAL_PROPERTIES, PREFIX, LocalTransform, motion_of

_TICKS, _TICKS_OF_DEFINITION = 46186158000.0, 141120000.0
"""Units of time per second: the default in FBX 7, and the alternative that a file can name."""
_OLD_DEFINITION = 127
_FIRST_WITH_DEFINITION = 1004
_CHANNELS = {b"d|X": 0, b"d|Y": 1, b"d|Z": 2, b"d|Weight": 0}
_NAMES = {(PREFIX + name).encode(): name for name in LOCAL_PROPERTIES}
Properties = Mapping[str, list[Any]]
_NO_PROPERTIES: Properties = {}
_Curves = dict[int, dict[str, list[LayerCurves]]]
"""Curves by model and property, in the order of the layers."""


def read(data: bytes) -> MotionFile:
    """Return the models of a binary FBX file, as nodes, and its stacks, as takes.

    Raises
    ------
    MotionError
        If the file is damaged, is a text file, or does not have a version from 7.1 to 7.7.
    """
    _, root = read_records(data)
    return _Scene(root).motion_file()


@dataclass(frozen=True)
class _Connection:
    child: int
    parent: int
    name: bytes
    """The property of the parent that the child animates, or empty if the child belongs to the parent itself."""


class _Scene:
    """The objects of a file, by number, and their connections."""

    def __init__(self, root: Record) -> None:
        self.ticks = _ticks(root)
        settings = root.find("GlobalSettings")
        self.settings = _properties(settings) if settings else _NO_PROPERTIES
        self.template = _template(root, "Model")
        self.objects: dict[int, Record] = {}
        for record in root.find("Objects") or ():
            if record.name in ("Model", "AnimationStack", "AnimationLayer", "AnimationCurveNode", "AnimationCurve"):
                values = record.values
                if not values or type(values[0]) is not int:
                    raise MotionError(n_("the object at byte {:d} has no ID", record.start))
                self.objects[values[0]] = record
        self.below: dict[int, list[_Connection]] = defaultdict(list)
        self.above: dict[int, list[_Connection]] = defaultdict(list)
        for connection in _connections(root):
            self.below[connection.parent].append(connection)
            self.above[connection.child].append(connection)
        self.models = [number for number, record in self.objects.items() if record.name == "Model"]
        self.pivots = {number: self._pivots(number) for number in self.models}

    def motion_file(self) -> MotionFile:
        index = {number: i for i, number in enumerate(self.models)}
        parents = [self._parent(number, index) for number in self.models]
        cyclic = find_cycle(parents)
        if cyclic is not None:
            raise MotionError(n_("model {:d} is its own ancestor", cyclic))
        nodes = tuple(self._node(number, parent) for number, parent in zip(self.models, parents, strict=True))
        notes: list[str] = []
        takes = tuple(self._take(stack, index, notes) for stack in self._of_kind("AnimationStack"))
        return MotionFile(nodes, takes, _to_blender(self.settings), tuple(dict.fromkeys(notes)))

    def _of_kind(self, kind: str) -> Iterator[int]:
        return (number for number, record in self.objects.items() if record.name == kind)

    def _children(self, number: int, kind: str) -> Iterator[_Connection]:
        """Yield the connections to objects of a given kind that belong to an object or animate its properties."""
        for connection in self.below[number]:
            record = self.objects.get(connection.child)
            if record is not None and record.name == kind:
                yield connection

    def _parent(self, number: int, index: Mapping[int, int]) -> int:
        parents = (c.parent for c in self.above[number] if not c.name and c.parent in index)
        return index[next(parents)] if any(not c.name and c.parent in index for c in self.above[number]) else -1

    def _pivots(self, number: int) -> LocalTransform:
        return LocalTransform.of({**self.template, **_properties(self.objects[number])})

    def _node(self, number: int, parent: int) -> Node:
        pivots = self.pivots[number]
        values = (getattr(pivots, field)[np.newaxis] for field in LOCAL_PROPERTIES.values())
        translation, rotation, scale = pivots.at(*values)
        return Node(_name(self.objects[number]), parent, translation[0], rotation[0], scale[0])

    def _take(self, stack: int, index: Mapping[int, int], notes: list[str]) -> Take:
        layers = [connection.child for connection in self._children(stack, "AnimationLayer")]
        curves: _Curves = defaultdict(lambda: defaultdict(list))
        alone: list[Take] = []
        for place, number in enumerate(layers):
            own = self._curves(number, self._layer(number, place == 0), index, notes)
            for model, properties in own.items():
                for name, each in properties.items():
                    curves[model][name] += each
            first = {
                model: {name: [each.as_first() for each in some] for name, some in properties.items()}
                for model, properties in own.items()
            }
            alone.append(Take(_name(self.objects[number]), self._motions(first, index)))
        moving = tuple(each for each in alone if each.motions)
        return Take(_name(self.objects[stack]), self._motions(curves, index), moving if len(moving) > 1 else ())

    def _curves(self, number: int, layer: Layer, index: Mapping[int, int], notes: list[str]) -> _Curves:
        """Return the curves of a layer, by model and property."""
        curves: _Curves = defaultdict(lambda: defaultdict(list))
        for connection in self._children(number, "AnimationCurveNode"):
            for target in self.above[connection.child]:
                name = _NAMES.get(target.name)
                if name is not None and target.parent in index and not curves[target.parent][name]:
                    static = getattr(self.pivots[target.parent], LOCAL_PROPERTIES[name])
                    curves[target.parent][name].append(self._layer_curves(connection.child, layer, static, notes))
        return curves

    def _motions(self, curves: _Curves, index: Mapping[int, int]) -> dict[int, NodeMotion]:
        """Return the motions by node."""
        found = {index[model]: motion_of(self.pivots[model], properties) for model, properties in curves.items()}
        return {node: motion for node, motion in found.items() if motion is not None}

    def _layer(self, number: int, is_first: bool) -> Layer:
        own = _properties(self.objects[number])
        weights = [
            curves.curves[0]
            for connection in self._children(number, "AnimationCurveNode")
            if connection.name == b"Weight"
            for curves in [self._layer_curves(connection.child, None, np.full(3, 100.0), [])]
        ]
        return Layer(
            is_first,
            ("ADDITIVE", "OVERRIDE", "OVERRIDE_PASSTHROUGH")[_choice(own, "BlendMode", 3, 1)],
            weights[0] if weights and weights[0] is not None else _number(own, "Weight", 100.0),
            _choice(own, "RotationAccumulationMode", 2, 1) == 0,
            _choice(own, "ScaleAccumulationMode", 2, 1) == 0,
        )

    def _layer_curves(self, number: int, layer: Any, static: Float64Array, notes: list[str]) -> LayerCurves:
        own = _properties(self.objects[number])
        defaults = np.array([_number(own, key, static[i]) for i, key in enumerate(("d|X", "d|Y", "d|Z"))])
        found: list[Any] = [None, None, None]
        for connection in self._children(number, "AnimationCurve"):
            channel = _CHANNELS.get(connection.name)
            if channel is not None and found[channel] is None:
                record = self.objects[connection.child]
                found[channel] = read_curve(record, self.ticks)
                if is_extrapolated(record):
                    notes.append(n_("extrapolation of curves is not supported: the first and last values are held"))
        return LayerCurves(layer, tuple(found), defaults)


def _ticks(root: Record) -> float:
    """Return the units of time per second."""
    header = root.find("FBXHeaderExtension")
    version = header.find("FBXHeaderVersion") if header else None
    flags = header.find("OtherFlags") if header else None
    definition = flags.find("TCDefinition") if flags else None
    if version is None or definition is None or not version.values or not definition.values:
        return _TICKS
    if not isinstance(version.values[0], int) or version.values[0] < _FIRST_WITH_DEFINITION:
        return _TICKS
    return _TICKS if definition.values[0] == _OLD_DEFINITION else _TICKS_OF_DEFINITION


def _connections(root: Record) -> Iterator[_Connection]:
    for record in root.find("Connections") or ():
        if record.name != "C":
            continue
        values = record.values
        if len(values) >= 3 and values[0] in (b"OO", b"OP") and type(values[1]) is type(values[2]) is int:
            name = values[3] if values[0] == b"OP" and len(values) > 3 and isinstance(values[3], bytes) else b""
            if values[0] == b"OO" or name:
                yield _Connection(values[1], values[2], name)


def _properties(record: Record) -> Properties:
    """Return the values of an object's properties, by name."""
    holder = record.find("Properties70")
    values = (each.values for each in holder or () if each.name == "P")
    return {str(v[0], "utf-8", "replace"): v[4:] for v in values if len(v) > 4 and isinstance(v[0], bytes)}


def _template(root: Record, kind: str) -> Properties:
    """Return the default properties for objects of a given kind."""
    for record in root.find("Definitions") or ():
        if record.name == "ObjectType" and record.values[:1] == [kind.encode()]:
            template = record.find("PropertyTemplate")
            return _properties(template) if template else _NO_PROPERTIES
    return _NO_PROPERTIES


def _number(properties: Properties, name: str, default: float) -> float:
    value = properties.get(name, [default])[0]
    return float(value) if isinstance(value, int | float) and abs(value) < 1e30 else default


def _choice(properties: Properties, name: str, count: int, other: int) -> int:
    """Return the value of an enumeration, 0 if it is missing, or `other` if it is unknown."""
    value = properties.get(name, [0])[0]
    return value if isinstance(value, int) and 0 <= value < count else other


def _name(record: Record) -> str:
    """Return the name of an object without its class."""
    values: Iterable[object] = record.values
    text = next((value for value in values if isinstance(value, bytes)), b"")
    return text.split(b"\0\1")[0].decode("utf-8", "replace")


def _to_blender(settings: Properties) -> Float64Array:
    """Return the rotation from the file's axes to Blender's, where up is z and the front is -y."""
    matrix = np.zeros((3, 3))
    for row, (name, sense) in enumerate((("CoordAxis", 1.0), ("FrontAxis", -1.0), ("UpAxis", 1.0))):
        axis = _choice(settings, name, 3, 0) if name in settings else (0, 2, 1)[row]
        matrix[row, axis] = sense * (1.0 if _number(settings, f"{name}Sign", 1.0) >= 0.0 else -1.0)
    if np.linalg.det(matrix) < 0.5:
        # The file is left-handed, or its axes are inconsistent. The poses at keys determine the axes.
        return rotations.from_axis_angle([1.0, 0.0, 0.0], np.pi / 2.0)
    return rotations.from_matrix(matrix)
