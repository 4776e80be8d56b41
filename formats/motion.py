# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes, takes and tracks that are read from the files of other programs, and checks for damage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

import numpy as np
import numpy.typing as npt

from .curve import Curve
from .errors import FileError
from .interp import Float64Array, n_

VALUE_LIMIT = 1e30
"""Values of this magnitude or more count as damage. Float32, in which files and Blender store values, ends at 3e38."""
_MOST_NUMBERS = 16_000_000
"""Maximum number of values in an array, enough for one hour of forty curves at 120 keys per second."""


@dataclass(frozen=True, eq=False)
class MotionFile:
    """The nodes of a file and their motion."""

    nodes: tuple[Node, ...]
    takes: tuple[Take, ...]
    to_blender: Float64Array
    """The rotation from the file's axes to Blender's, as a unit quaternion, shape (4,)."""
    notes: tuple[str, ...] = ()
    """Texts that name the parts of the file's animation that are not read."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node, with its place in the hierarchy and its transform without animation."""

    name: str
    """The name in the file, or empty if the node has none."""
    parent: int
    """The index of the parent among the nodes, or -1 for none."""
    translation: Float64Array
    rotation: Float64Array
    """A unit quaternion w, x, y, z, shape (4,)."""
    scale: Float64Array
    """Shape (3,)."""


@dataclass(frozen=True, eq=False)
class Take:
    """A take, stack or animation. `motions` contains the motion of each node that it moves.

    `layers` contains each layer as a separate take, because importers create an action for each. It is empty unless
    there are several layers.
    """

    name: str
    motions: Mapping[int, NodeMotion]
    layers: tuple[Take, ...] = ()


@dataclass(frozen=True, eq=False)
class NodeMotion:
    """The motion of a node in a take. Properties without motion are None.

    `pivot` is the track of the point about which the node rotates, if rotations or scales move the origin. An importer
    may make this point the origin.
    """

    translation: Track | None = None
    rotation: Track | None = None
    scale: Track | None = None
    pivot: Track | None = None

    @property
    def tracks(self) -> dict[str, Track]:
        """Return the tracks of the properties that have motion, by name. The pivot is not a property."""
        properties = {"translation": self.translation, "rotation": self.rotation, "scale": self.scale}
        return {name: track for name, track in properties.items() if track is not None}

    def about_pivot(self) -> NodeMotion:
        """Return the motion with the pivot as the origin."""
        return replace(self, translation=self.pivot, pivot=None)


@dataclass(frozen=True, eq=False)
class Track:
    """The translation, rotation or scale of a node in one take."""

    times: Float64Array
    """The times of the keys of all curves, in seconds, shape (n,)."""
    interpolation: npt.NDArray[np.uint8]
    """CONSTANT or LINEAR if all curves have this interpolation, otherwise CUBIC, shape (n,)."""
    evaluate: Callable[[Float64Array], Float64Array]
    """A function that returns values (m, 3), or unit quaternions (m, 4), at times (m,)."""
    curves: tuple[Curve, ...] | None = None
    """The components as curves. For a rotation, the curves are the components of the quaternion before normalization.
    None if the file does not key the components."""
    euler: EulerCurves | None = None
    """The keyed angles, or None if the file does not key angles."""
    shared: npt.NDArray[np.bool_] | None = None
    """Mask of the times at which each varying curve has a key, or all its keys are earlier or later, shape (n,). An
    importer knows the whole pose there. If None, all times are shared."""

    @property
    def shared_times(self) -> Float64Array:
        """Return the times in the `shared` mask or, if there are none, all times."""
        times = self.times if self.shared is None else self.times[self.shared]
        return times if len(times) else self.times


@dataclass(frozen=True, eq=False)
class EulerCurves:
    """Curves of Euler angles in radians about x, y and z, and Blender's name for the order.

    "XYZ" means the matrix Rz Ry Rx.
    """

    curves: tuple[Curve, ...]
    order: str


class MotionError(FileError):
    """A file with curves that cannot be read."""


def check_count(count: int, name: str) -> None:
    """Raise MotionError if an array has more values than the limit. Call it before memory is allocated."""
    if count > _MOST_NUMBERS:
        raise MotionError(n_("{:s} has {:d} numbers, more than the limit of {:d}", name, count, _MOST_NUMBERS))


def find_cycle(parents: Sequence[int]) -> int | None:
    """Return a node that is its own ancestor, or None. The parent of a root is -1."""
    try:
        TopologicalSorter({node: [parent] for node, parent in enumerate(parents) if parent >= 0}).prepare()
    except CycleError as error:
        return int(error.args[1][0])
    return None
