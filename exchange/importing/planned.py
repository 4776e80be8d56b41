# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an imported object."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...animation.fcurves.keyframes import Float64Array
from ...formats.three_ds import Camera, Light, Mesh, Node
from ..clean_keys import Keys
from ..conversion import Frame
from ..rotation_modes import ModeKeys


@dataclass(eq=False)
class PlannedObject:
    """The plan of an object, with converted keys and points."""

    name: str
    node: Node
    parent: int | None
    """The index of the parent in the planned objects."""
    kind: str
    """MESH, EMPTY, CAMERA, LIGHT or WORLD."""
    frame: Frame
    content: Mesh | Camera | Light | None = None
    target: int | None = None
    """The index of the object's target."""
    points: Float64Array | None = None
    """The vertices of the mesh in local space."""
    mirrored: bool = False
    keys: dict[str, Keys] = field(default_factory=dict)
    """Keys of location, scale, fov, roll, color, hotspot and falloff. Angles are in degrees."""
    rotation: ModeKeys | None = None
    hidden: Keys | None = None
    """The value is 1 while the object is hidden."""
    markers: list[tuple[float, str]] = field(default_factory=list)
    """Frames and the names of morph targets."""
