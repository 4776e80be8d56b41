# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of a file, its takes, and how each take moves a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..keys import Float64Array
from ..messages import Text, n_
from .curves import Curve

_MOST_NUMBERS = 16_000_000
"""Maximum number of numbers in all keys of a file: at 120 keys per second, one hour of forty curves."""


class MotionError(ValueError):
    """A file that can't be read; the text names the place and the fault."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def text(self) -> str:
        return getattr(self.reason, "text", self.reason)

    @property
    def values(self) -> tuple[object, ...]:
        return getattr(self.reason, "values", ())


def number_limit(count: int, what: str) -> Text | None:
    """Return the fault of so many numbers, if they are more than a file may have."""
    return (
        n_("{:s} has {:d} numbers, more than the limit of {:d}", what, count, _MOST_NUMBERS)
        if count > _MOST_NUMBERS
        else None
    )


@dataclass(frozen=True, eq=False)
class Node:
    """A node: its place in the hierarchy, and the transform that it has without animation.

    Attributes
    ----------
    name : str
        As the file has it; empty where it has none.
    parent : int
        The index of its parent among the nodes; -1 for none.
    translation, scale : ndarray, shape (3,)
    rotation : ndarray, shape (4,)
        A unit quaternion w, x, y, z.
    """

    name: str
    parent: int
    translation: Float64Array = field(default_factory=lambda: np.zeros(3))
    rotation: Float64Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    scale: Float64Array = field(default_factory=lambda: np.ones(3))


@dataclass(frozen=True, eq=False)
class EulerCurves:
    """Curves of Euler angles in radians about x, y and z, and their order as Blender names it: "XYZ" is Rz Ry Rx."""

    curves: tuple[Curve, ...]
    order: str


@dataclass(frozen=True, eq=False)
class Track:
    """A node's translation, rotation or scale in one take.

    Attributes
    ----------
    times : ndarray, shape (n,)
        Seconds: the keys of all of its curves.
    interpolation : ndarray of uint8, shape (n,)
        CONSTANT or LINEAR where all curves are, else CUBIC.
    evaluate : callable
        Returns values (m, 3), or unit quaternions (m, 4), at times (m,).
    curves : tuple of Curve, or None
        The components as curves. A rotation has the components of the quaternion before it is normalized. None where
        the file does not key the components.
    euler : EulerCurves, or None
        The angles that the file keys.
    shared : ndarray of bool, shape (n,), or None
        At which times all curves that vary have a key, or none any more: an importer knows the whole pose there. None:
        at all.
    """

    times: Float64Array
    interpolation: npt.NDArray[np.uint8]
    evaluate: Callable[[Float64Array], Float64Array]
    curves: tuple[Curve, ...] | None = None
    euler: EulerCurves | None = None
    shared: npt.NDArray[np.bool_] | None = None

    @property
    def shared_times(self) -> Float64Array:
        """Return the times at which all curves have keys, or any of them if there are none."""
        times = self.times if self.shared is None else self.times[self.shared]
        return times if len(times) else self.times


@dataclass(frozen=True, eq=False)
class NodeMotion:
    """The motion of a node in a take. None means that it does not move.

    `pivot` is the translation of the point about which the node turns, where that is not its origin: an importer may
    make it the origin.
    """

    translation: Track | None = None
    rotation: Track | None = None
    scale: Track | None = None
    pivot: Track | None = None


@dataclass(frozen=True, eq=False)
class Take:
    """A take, stack or animation; `motions` has the nodes that it moves.

    `layers` has each of its layers alone, as a take; empty where there are not several. Importers make them so.
    """

    name: str
    motions: Mapping[int, NodeMotion]
    layers: tuple[Take, ...] = ()


@dataclass(frozen=True, eq=False)
class MotionFile:
    """The nodes of a file and their motion.

    Attributes
    ----------
    nodes : tuple of Node
    takes : tuple of Take
    to_blender : ndarray, shape (4,)
        The rotation, a unit quaternion, from the file's axes to Blender's.
    notes : tuple of str
        The parts of the file's animation that are not read.
    """

    nodes: tuple[Node, ...]
    takes: tuple[Take, ...]
    to_blender: Float64Array
    notes: tuple[str, ...] = ()
