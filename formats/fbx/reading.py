# SPDX-License-Identifier: GPL-3.0-or-later
"""Read models, animation stacks, and the layers and curves of each stack, by following connections between objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..interp import Float64Array, n_, rotations
from ..motion import Curve, MotionError, MotionFile, Node, NodeMotion, Take, find_cycle
from .binary import NO_PROPERTIES, Properties, Record, choice, number, read_properties, read_records, read_template
from .curves import is_extrapolated, read_curve
from .node_motion import LOCAL_PROPERTIES, PREFIX, Layer, LayerCurves, LocalTransform, Mode, motion_of

_TICKS, _TICKS_OF_DEFINITION = 46186158000.0, 141120000.0
"""Units of time per second: the default in FBX 7, and the alternative that a file can declare."""
_DEFAULT_DEFINITION = 127
"""The value of TCDefinition, the time code definition in the header, for the default units. Others mean the
alternative. Source: ufbx."""
_FIRST_WITH_DEFINITION = 1004
"""The first version of the header, FBXHeaderVersion, in which TCDefinition counts. Source: ufbx."""
_COMPONENT_OF_CHANNEL = {b"d|X": 0, b"d|Y": 1, b"d|Z": 2, b"d|Weight": 0}
"""The components of properties. The weight of a layer has one component."""
_NAMES = {(PREFIX + name).encode(): name for name in LOCAL_PROPERTIES}
_MODES: tuple[Mode, ...] = ("ADDITIVE", "OVERRIDE", "OVERRIDE_PASSTHROUGH")


def read(data: bytes) -> MotionFile:
    """Return the models of a binary FBX file, as nodes, and its stacks, as takes.

    Raises
    ------
    MotionError
        If the file is damaged, is a text file, or does not have a version from 7100 to 7999.
    """
    return _Scene(read_records(data)).motion_file()


@dataclass(frozen=True)
class _Connection:
    child: int
    parent: int
    name: bytes
    """The property of the parent that the child animates, or empty if the child belongs to the parent itself."""


class _Scene:
    """The objects of a file, by their IDs, and their connections."""

    def __init__(self, root: Record) -> None:
        self.ticks = _ticks(root)
        settings = root.find("GlobalSettings")
        self.settings = read_properties(settings) if settings else NO_PROPERTIES
        self.objects = _objects(root)
        self.below: dict[int, list[_Connection]] = defaultdict(list)
        """The connections of each parent."""
        self.above: dict[int, list[_Connection]] = defaultdict(list)
        """The connections of each child."""
        for connection in _connections(root):
            self.below[connection.parent].append(connection)
            self.above[connection.child].append(connection)
        self.node_of_model = {model: node for node, model in enumerate(self._of_kind("Model"))}
        """The index of the node of each model."""
        template = read_template(root, "Model")
        self.transforms = {
            model: LocalTransform.of({**template, **read_properties(self.objects[model])})
            for model in self.node_of_model
        }
        self.notes: list[str] = []

    def motion_file(self) -> MotionFile:
        parents = [self._parent(model) for model in self.node_of_model]
        cyclic = find_cycle(parents)
        if cyclic is not None:
            raise MotionError(n_("model {:d} is its own ancestor", cyclic))
        nodes = tuple(map(self._node, self.node_of_model, parents))
        takes = tuple(self._take(stack) for stack in self._of_kind("AnimationStack"))
        return MotionFile(nodes, takes, _to_blender(self.settings), tuple(dict.fromkeys(self.notes)))

    def _of_kind(self, kind: str) -> Iterator[int]:
        return (ident for ident, record in self.objects.items() if record.name == kind)

    def _children(self, parent: int, kind: str) -> Iterator[_Connection]:
        """Yield the connections to objects of a given kind that belong to an object or animate its properties."""
        for connection in self.below[parent]:
            record = self.objects.get(connection.child)
            if record is not None and record.name == kind:
                yield connection

    def _parent(self, model: int) -> int:
        """Return the node of the parent model, or -1 if there is none."""
        parents = (connection.parent for connection in self.above[model] if not connection.name)
        return next((self.node_of_model[parent] for parent in parents if parent in self.node_of_model), -1)

    def _node(self, model: int, parent: int) -> Node:
        transform = self.transforms[model]
        translation, rotation, scale = transform.at(*(transform.static[name][np.newaxis] for name in LOCAL_PROPERTIES))
        return Node(_name(self.objects[model]), parent, translation[0], rotation[0], scale[0])

    def _take(self, stack: int) -> Take:
        stack_curves: dict[int, dict[str, list[LayerCurves]]] = defaultdict(lambda: defaultdict(list))
        layer_takes: list[Take] = []
        for position, connection in enumerate(self._children(stack, "AnimationLayer")):
            layer = self._layer(connection.child, is_first=position == 0)
            layer_curves = self._layer_curves(connection.child, layer)
            for model, properties in layer_curves.items():
                for name, curves in properties.items():
                    stack_curves[model][name].append(curves)
            # As if it were the only layer, as importers create it.
            only_curves = {
                model: {name: [curves.as_first()] for name, curves in properties.items()}
                for model, properties in layer_curves.items()
            }
            layer_takes.append(Take(_name(self.objects[connection.child]), self._motions(only_curves)))
        animated_takes = tuple(take for take in layer_takes if take.motions)
        layers = animated_takes if len(animated_takes) > 1 else ()
        return Take(_name(self.objects[stack]), self._motions(stack_curves), layers)

    def _layer(self, ident: int, is_first: bool) -> Layer:
        properties = read_properties(self.objects[ident])
        return Layer(
            is_first,
            _MODES[choice(properties, "BlendMode", len(_MODES), unknown=1)],
            self._weight_curve(ident) or number(properties, "Weight", 100.0),
            composes_rotations=choice(properties, "RotationAccumulationMode", 2, unknown=1) == 0,
            composes_scales=choice(properties, "ScaleAccumulationMode", 2, unknown=1) == 0,
        )

    def _weight_curve(self, layer: int) -> Curve | None:
        """Return the curve of a layer's weight in percent, or None if it is not animated."""
        for connection in self._children(layer, "AnimationCurveNode"):
            if connection.name == b"Weight":
                return self._component_curves(connection.child)[0]
        return None

    def _layer_curves(self, ident: int, layer: Layer) -> dict[int, dict[str, LayerCurves]]:
        """Return the curves of a layer, by model and property. If two nodes animate one property, the first counts."""
        layer_curves: dict[int, dict[str, LayerCurves]] = {}
        for curve_node in (connection.child for connection in self._children(ident, "AnimationCurveNode")):
            for target in self.above[curve_node]:
                name = _NAMES.get(target.name)
                if name is None or target.parent not in self.node_of_model:
                    continue
                properties = layer_curves.setdefault(target.parent, {})
                if name not in properties:
                    static = self.transforms[target.parent].static[name]
                    node = read_properties(self.objects[curve_node])
                    # The values of components without a curve.
                    defaults = np.array([number(node, f"d|{axis}", static[i]) for i, axis in enumerate("XYZ")])
                    properties[name] = LayerCurves(layer, tuple(self._component_curves(curve_node)), defaults)
        return layer_curves

    def _component_curves(self, curve_node: int) -> list[Curve | None]:
        """Return the curves of the three components of a property, or of the weight of a layer."""
        curves: list[Curve | None] = [None, None, None]
        for connection in self._children(curve_node, "AnimationCurve"):
            component = _COMPONENT_OF_CHANNEL.get(connection.name)
            if component is not None and curves[component] is None:
                record = self.objects[connection.child]
                curves[component] = read_curve(record, self.ticks)
                if is_extrapolated(record):
                    self.notes.append(
                        n_("extrapolation of curves is not supported: the first and last values are held")
                    )
        return curves

    def _motions(self, curves: Mapping[int, Mapping[str, list[LayerCurves]]]) -> dict[int, NodeMotion]:
        """Return the motions by node, from the curves of the layers by model and property."""
        motions = {
            self.node_of_model[model]: motion_of(self.transforms[model], properties)
            for model, properties in curves.items()
        }
        return {node: motion for node, motion in motions.items() if motion is not None}


def _ticks(root: Record) -> float:
    header = root.find("FBXHeaderExtension")
    version = header.find("FBXHeaderVersion") if header else None
    flags = header.find("OtherFlags") if header else None
    definition = flags.find("TCDefinition") if flags else None
    if version is None or definition is None or not version.values or not definition.values:
        return _TICKS
    if not isinstance(version.values[0], int) or version.values[0] < _FIRST_WITH_DEFINITION:
        return _TICKS
    return _TICKS if definition.values[0] == _DEFAULT_DEFINITION else _TICKS_OF_DEFINITION


def _objects(root: Record) -> dict[int, Record]:
    """Return the objects that define motion, by their IDs."""
    objects: dict[int, Record] = {}
    for record in root.find("Objects") or ():
        if record.name in ("Model", "AnimationStack", "AnimationLayer", "AnimationCurveNode", "AnimationCurve"):
            values = record.values
            if not values or type(values[0]) is not int:
                raise MotionError(n_("the object at byte {:d} has no ID", record.start))
            objects[values[0]] = record
    return objects


def _connections(root: Record) -> Iterator[_Connection]:
    """Yield the connections between objects, and from objects to properties."""
    for record in root.find("Connections") or ():
        if record.name != "C":
            continue
        values = record.values
        if len(values) >= 3 and values[0] in (b"OO", b"OP") and type(values[1]) is type(values[2]) is int:
            name = values[3] if values[0] == b"OP" and len(values) > 3 and isinstance(values[3], bytes) else b""
            if values[0] == b"OO" or name:
                yield _Connection(values[1], values[2], name)


def _name(record: Record) -> str:
    """Return the name of an object without its class."""
    values: Iterable[object] = record.values
    name = next((value for value in values if isinstance(value, bytes)), b"")
    return name.split(b"\0\1")[0].decode("utf-8", "replace")


def _to_blender(settings: Properties) -> Float64Array:
    """Return the rotation from the file's axes to Blender's, where up is z and the front is -y."""
    matrix = np.zeros((3, 3))
    directions = (("CoordAxis", 0, 1.0), ("FrontAxis", 2, -1.0), ("UpAxis", 1, 1.0))
    for row, (name, default, direction) in enumerate(directions):
        axis = choice(settings, name, 3, unknown=0, missing=default)
        matrix[row, axis] = direction * (1.0 if number(settings, f"{name}Sign", 1.0) >= 0.0 else -1.0)
    if np.linalg.det(matrix) < 0.5:
        # No rotation maps left-handed or inconsistent axes. Assume the default: y is up.
        return rotations.from_axis_angle([1.0, 0.0, 0.0], np.pi / 2.0)
    return rotations.from_matrix(matrix)
