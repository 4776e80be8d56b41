# SPDX-License-Identifier: GPL-3.0-or-later
"""Companions of a track that was renamed.

Blender retargets an F-curve's path only where the new path resolves. A companion's does for an ID and a pose bone, and
never for a shape key or a node, which can't have properties of the add-on's: those companions are found again here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import bpy

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_TOLERANCE = 1e-3
"""Frames; as for keys and their companions everywhere."""


def renamed(
    lost: Mapping[str, list[bpy.types.FCurve]], bare: Mapping[str, Iterable[bpy.types.FCurve]]
) -> dict[str, str]:
    """For companions of tracks that are no more the tracks that they belong to now, as far as that is certain.

    `lost`: by track path, the companions where no F-curve has the path any more: a rename takes them all along.
    `bare`: by track path, the F-curves of the tracks without a companion.
    """
    pairs = {}
    for path, companions in lost.items():
        frames = _frames(companions)
        alike = [other for other in bare if _blank(other) == _blank(path) and frames <= _frames(bare[other])]
        if len(alike) == 1:
            pairs[path] = alike[0]
    claimed = list(pairs.values())
    return {path: track for path, track in pairs.items() if claimed.count(track) == 1}


def _blank(path: str) -> str:
    return _QUOTED.sub('""', path)


def _frames(fcurves: Iterable[bpy.types.FCurve]) -> set[int]:
    return {round(point.co.x / _TOLERANCE) for fcurve in fcurves for point in fcurve.keyframe_points}
