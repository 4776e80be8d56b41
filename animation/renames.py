# SPDX-License-Identifier: GPL-3.0-or-later
"""Companions of a track that was renamed.

Blender retargets an F-curve's path only where the new path resolves. A companion's does for an ID and a pose bone, and
never for a shape key or a node, which can't have properties of the add-on's: those companions are found again here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import bpy

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_TOLERANCE = 1e-3
"""Frames; as for keys and their companions everywhere."""


def renamed(
    lost: Mapping[str, list[bpy.types.FCurve]],
    bare: Mapping[str, Iterable[bpy.types.FCurve]],
    resolves: Callable[[str], bool],
) -> dict[str, str]:
    """For companions of tracks that are no more the tracks that they belong to now, as far as that is certain.

    `lost`: by track path, the companions without a track. `bare`: by track path, the F-curves of the tracks without a
    companion. A track that has lost its F-curves still resolves, and keeps its companions to itself.
    """
    pairs = {}
    orphans = [path for path in lost if not resolves(path)]
    for path in orphans:
        alike = [other for other in bare if _blank(other) == _blank(path)]
        rivals = [other for other in orphans if _blank(other) == _blank(path)]
        if len(alike) > 1 or len(rivals) > 1:
            alike = [other for other in alike if _frames(lost[path]) and _frames(lost[path]) <= _frames(bare[other])]
        if len(alike) == 1:
            pairs[path] = alike[0]
    claimed = list(pairs.values())
    return {path: track for path, track in pairs.items() if claimed.count(track) == 1}


def _blank(path: str) -> str:
    return _QUOTED.sub('""', path)


def _frames(fcurves: Iterable[bpy.types.FCurve]) -> set[int]:
    return {round(point.co.x / _TOLERANCE) for fcurve in fcurves for point in fcurve.keyframe_points}
