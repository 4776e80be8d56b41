# SPDX-License-Identifier: GPL-3.0-or-later
"""Match an object or bone with a node of a file, by the poses at the file's keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...formats.motion import NodeMotion, Track
from ...interp import rotations
from ...interp.keys import Float64Array
from ..datablocks import name_of
from ..errors import Finding, size_of
from ..fcurves.frames import is_among, union
from ..fcurves.read_keys import read_coordinates
from .clock import Clock
from .conversion import Conversion, Poses, find_conversion
from .items import FCurves, Item

PROPERTIES = {"translation": "location", "rotation": "rotation", "scale": "scale"}
"""The name in `Item` of each property of a node."""
_SAME_KEY = 0.01
"""Maximum distance, in frames, between a key of the file and the corresponding key of the F-curve."""
_VALUES_FIT = 1e-3
"""Maximum deviation of a pose, as a fraction of the range of the property's keys."""
_ROUNDED = 2e-5
"""Rounding error of importers, which compute with float32, as a fraction of the largest value."""
_ANGLES_FIT = np.radians(0.1)
_MOST_POSES = 400
"""Maximum number of compared keys. An importer converts all keys of a node in the same way."""
_IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
_MISFITS = {
    "translation": "LOCATION_OFF",
    "rotation": "ROTATION_OFF",
    "scale": "SCALE_OFF",
}


@dataclass(frozen=True, eq=False)
class Match:
    """The match of an object or bone with a node.

    Attributes
    ----------
    item : Item
    node : int
        The index of the node.
    motion : NodeMotion
        The node's motion in a take, about its origin or its pivot.
    prior : ndarray, shape (4,)
        The turn implied by the ancestor nodes, as a quaternion.
    conversion : Conversion
        The conversion of the node's transforms.
    misfit : Finding or None
        The error to raise, or None if the poses at keys fit.
    unkeyed : int
        The number of the file's keys at frames without an F-curve key.
    """

    item: Item
    node: int
    motion: NodeMotion
    prior: Float64Array
    conversion: Conversion
    misfit: Finding | None
    unkeyed: int


def match_with_node(
    item: Item, node: int, motion: NodeMotion, clock: Clock, fcurves: FCurves, prior: Float64Array
) -> Match | None:
    """Return the match of an item and a node, or None if they have no animated property in common."""
    match = _match_origin(item, node, motion, clock, fcurves, prior)
    if match is not None and match.misfit and motion.pivot is not None:
        # An importer may have moved the origin to the pivot.
        about_pivot = _match_origin(item, node, motion.about_pivot(), clock, fcurves, prior)
        match = about_pivot if about_pivot is not None and not about_pivot.misfit else match
    return match


def _match_origin(
    item: Item, node: int, motion: NodeMotion, clock: Clock, fcurves: FCurves, prior: Float64Array
) -> Match | None:
    """Return the match of an item that shares the node's origin."""
    tracks = {
        name: track
        for name, track in motion.tracks.items()
        if any((item.path(PROPERTIES[name]), index) in fcurves for index in range(4))
    }
    if not tracks:
        return None
    poses_in_file = {"translation": np.zeros((1, 3)), "rotation": _IDENTITY[np.newaxis], "scale": np.ones((1, 3))}
    # Without rotation keys, the ancestors decide how the item is turned relative to the node.
    poses_in_blender = {**poses_in_file, "rotation": prior[np.newaxis]}
    unkeyed = 0
    for name, track in tracks.items():
        times, is_keyed = _keyed_times(track, item.path(PROPERTIES[name]), clock, fcurves)
        unkeyed += int(np.count_nonzero(~is_keyed))
        times = times[is_keyed] if is_keyed.any() else times
        times = times[:: max(1, len(times) // _MOST_POSES)]
        poses_in_file[name] = track.evaluate(times)
        poses_in_blender[name] = item.played(PROPERTIES[name], fcurves, clock.frames(times))
    file, blender = Poses(**poses_in_file), Poses(**poses_in_blender)
    conversion = find_conversion(file, blender, prior)
    return Match(item, node, motion, prior, conversion, _misfit(item, tracks, conversion, file, blender), unkeyed)


def _keyed_times(track: Track, path: str, clock: Clock, fcurves: FCurves) -> tuple[Float64Array, npt.NDArray[np.bool_]]:
    """Return the times at which all components have keys in the file, and a mask of times with F-curve keys."""
    times = track.shared_times
    keyed = [read_coordinates(fcurve)[::2] for (key_path, _), fcurve in fcurves.items() if key_path == path]
    return times, is_among(clock.frames(times).astype(np.float32), union(keyed), _SAME_KEY)


def _misfit(
    item: Item, tracks: Mapping[str, Track], conversion: Conversion, file: Poses, blender: Poses
) -> Finding | None:
    """Return the error for the first property whose poses do not fit, or None."""
    for name in tracks:
        expected, original = getattr(blender, name), getattr(file, name)
        path = item.path(PROPERTIES[name])
        if name == "rotation":
            deviation = rotations.angle_between(conversion.rotation(original), expected)
            allowed = _ANGLES_FIT
        else:
            converted = conversion.location(original) if name == "translation" else conversion.scale(original)
            deviation = np.abs(converted - expected).max(axis=1)
            value_range, largest = float(np.ptp(expected, axis=0).max()), float(np.abs(expected).max())
            allowed = _VALUES_FIT * value_range + _ROUNDED * largest + 1e-6
        if deviation.max() > allowed:
            size = size_of(float(deviation.max()), name == "rotation")
            return Finding(_MISFITS[name], name_of(item.owner), path, arguments=(size,))
    return None
