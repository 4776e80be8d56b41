# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of the own keys of a baked object with those of its twin, which is not baked: what was lost or added."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.animation.curves import PARAMETERS, co, fcurves, is_frame_function
from tools.edit_kinds import BoolArray, Float32Array

SAME_FRAME = 0.011
"""Frames: Blender keys over a key that is closer than 0.01 to the frame, and leaves it where it is."""
SAME_VALUE = 2e-5
"""Relative, and in units: keying over a key adds a difference to its value, which rounds."""
SAME_PARAMETER = 1e-4
_GENERATED = 1048583.0

DOUBT = "can't be told for sure"
"""In notes on keys that are kept in doubt."""

Name = tuple[str, int]
"""Data path and index of a channel."""
Points = dict[Name, Float32Array]
"""Frames and values of the own keys of each channel that has some, shape (n, 2)."""
Numbers = npt.NDArray[np.float64]

KINDS = ("error", "lost", "appeared", "parameters", "refused", "doubtful", "kinds", "siblings")
"""From worst to best. error: a refused bake changed something; lost: own keys are missing or have other values;
appeared: keys that nobody made; parameters: another tension, continuity, bias or ease; refused: a bake was refused and
changed nothing; doubtful: keys that nobody made, or that are elsewhere while none is missing, and that a note says are
kept in doubt; kinds: another interpolation, easing or key type; siblings: keys of a rotation's other channels where one
channel was keyed."""
COUNTED = ("error", "lost", "appeared", "parameters")
"""Kinds in which the animator has lost something, or got keys that he did not make."""


def is_own(fcurve: Any) -> bool:
    """Return whether an F-curve is the animator's."""
    # Blender's own operators may use an index in the path to an item of a collection.
    return not is_frame_function(fcurve) and not fcurve.data_path.startswith("tcb_tracks[")


def own_points(fcurve: Any) -> BoolArray:
    """Return which keys of a baked curve are own ones, as far as can be seen before an update."""
    points = fcurve.keyframe_points
    kinds = np.array([point.type != "GENERATED" for point in points], dtype=np.bool_)
    amplitudes = np.empty(len(points), dtype=np.float32)
    points.foreach_get("amplitude", amplitudes)
    return np.asarray(kinds | (amplitudes != _GENERATED))


def channels(obj: Any) -> dict[Name, Any]:
    """Return the animator's F-curves that have keys; none where the object has no animation any more."""
    animation = obj.animation_data
    if animation is None or animation.action is None:
        return {}
    return {
        (fcurve.data_path, fcurve.array_index): fcurve
        for fcurve in fcurves(obj)
        if is_own(fcurve) and len(fcurve.keyframe_points)
    }


def points_of(obj: Any) -> Points:
    """Return the keys of an object on which nothing is baked."""
    return {name: co(fcurve) for name, fcurve in channels(obj).items()}


def kinds_of(obj: Any) -> dict[Name, list[tuple[str, ...]]]:
    """Return key type, interpolation and easing of each key of an object on which nothing is baked."""
    return {
        name: [(point.type, point.interpolation, point.easing) for point in fcurve.keyframe_points]
        for name, fcurve in channels(obj).items()
    }


def parameters_of(animation: Any, obj: Any) -> dict[str, tuple[Numbers, Numbers]]:
    """Return for each track the frames of its keys, and the five parameters of each key, shape (n, 5)."""
    result = {}
    for path in dict.fromkeys(path for path, _ in channels(obj)):
        try:
            keys = animation.edit.track_keys.keys_of(obj, animation.find_track(obj, path))
            numbers = keys.parameters({})
        except animation.AnimationError:
            continue
        frames = np.asarray(keys.frames, dtype=np.float64)
        columns = [np.broadcast_to(numbers.get(name, 0.0), frames.shape) for name in PARAMETERS]
        result[path] = frames, np.stack(columns, axis=1)
    return result


@dataclass
class Own:
    """The animator's data on an object."""

    points: Points
    kinds: dict[Name, list[tuple[str, ...]]]
    parameters: dict[str, tuple[Numbers, Numbers]]

    @classmethod
    def of(cls, animation: Any, obj: Any) -> Own:
        """Read an object that was never baked."""
        return cls(points_of(obj), kinds_of(obj), parameters_of(animation, obj))


@dataclass
class Verdict:
    """The differences from the twin, by kind, as texts; and the notes on them."""

    differences: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    fewer: set[str] = field(default_factory=set)
    """Channels that have fewer keys than the twin's."""

    def add(self, kind: str, text: str) -> None:
        self.differences.setdefault(kind, []).append(text)

    def told(self, refused: Collection[str], before: Sequence[str] = (), flipped: bool = False) -> None:
        """Reclassify differences that a report has announced.

        They are tracks that were refused as they are, which an animator can repair, and, where a note says that keys
        are doubtful, keys that appeared or are elsewhere. `before`: notes before the last update. `flipped`: keys may
        have been pasted from a bone onto the one that mirrors it, where one that is elsewhere was not copied.
        """
        doubted, early = _doubted(self.notes), _doubted(before)
        pasted = set(map(_mirrored, early)) if flipped else set()
        if flipped:
            doubted |= set(map(_mirrored, doubted))
            early |= pasted
        for kind in ("lost", "appeared"):
            for text in self.differences.pop(kind, ()):
                channel, _, difference = text.partition(": ")
                path = channel.rpartition("[")[0]
                elsewhere = difference.startswith("no key") and (channel not in self.fewer or path in pasted)
                doubtful = (kind == "appeared" or elsewhere) and path in doubted
                self.add("refused" if path in refused else "doubtful" if doubtful else kind, text)
        self._tell_parameters(early, refused)

    def _tell_parameters(self, doubted: Collection[str], refused: Collection[str]) -> None:
        """Reclassify parameters of refused tracks, and of doubtful keys, which have none or their own.

        In channels announced before the last update such keys are among the others.
        """
        doubtful = {
            (channel.rpartition("[")[0], difference.rpartition(" ")[2])
            for channel, _, difference in (text.partition(": ") for text in self.differences.get("doubtful", ()))
        }
        for text in self.differences.pop("parameters", ()):
            path, _, difference = text.partition(": ")
            frame = difference.partition(" at ")[2].partition(",")[0]
            in_doubt = (path, frame) in doubtful or path in doubted
            self.add("refused" if path in refused else "doubtful" if in_doubt else "parameters", text)

    @property
    def worst(self) -> str:
        """Return the worst kind of difference; "kept" where there is none."""
        return next((kind for kind in KINDS if kind in self.differences), "kept")

    @property
    def size(self) -> int:
        return sum(map(len, self.differences.values()))

    @property
    def texts(self) -> list[str]:
        return [f"{kind}: {text}" for kind in KINDS for text in self.differences.get(kind, ())]


def _doubted(notes: Sequence[str]) -> set[str]:
    """Return the tracks whose keys a note says are ambiguous; also by the paths of their deltas."""
    paths = {match[1] for note in notes if DOUBT in note for match in [re.match('".*?", (.+?): ', note)] if match}
    return paths | {f"delta_{path}" for path in paths}


def _mirrored(path: str) -> str:
    """Return the path of the mirrored bone's track."""
    return path.translate(str.maketrans("LR", "RL")) if path.startswith("pose.bones") else path


def compare(
    wanted: Own,
    got: Own,
    *,
    values: bool = True,
    parameters: bool = True,
    inserted: bool = False,
    keeps_curve: bool = False,
) -> Verdict:
    """Compare own keys with the twin's; `values` and `parameters`: whether to compare these.

    Where keys were `inserted` no interpolation is compared, which a new key takes from the one before it, and a
    rotation may have a whole key where a channel got one. Where an inserted key `keeps_curve` it has parameters, and
    its twin those that were set since.
    """
    verdict = Verdict()
    nothing = np.empty((0, 2), dtype=np.float32)
    for name in dict.fromkeys((*wanted.points, *got.points)):
        channel = f"{name[0]}[{name[1]}]"
        theirs, mine = wanted.points.get(name, nothing), got.points.get(name, nothing)
        matched = _matched(theirs[:, 0], mine[:, 0])
        if len(mine) < len(theirs):
            verdict.fewer.add(channel)
        for row in sorted(set(range(len(theirs))) - set(matched)):
            verdict.add("lost", f"{channel}: no key at {theirs[row, 0]:g}")
        for row in sorted(set(range(len(mine))) - set(matched.values())):
            # Keys pasted into the rotation also go to a channel that a bake has made; the twin has no such channel.
            is_made = name not in wanted.points
            beside = (inserted or is_made) and has_sibling(wanted.points, name, mine[row, 0])
            kind = "siblings" if beside else "appeared"
            verdict.add(kind, f"{channel}: a key at {mine[row, 0]:g}")
        for row, other in matched.items():
            a, b = float(theirs[row, 1]), float(mine[other, 1])
            if values and not abs(a - b) <= SAME_VALUE * (1 + abs(a)):
                verdict.add("lost", f"{channel}: {b:g} at {theirs[row, 0]:g}, not {a:g}")
            was, now = wanted.kinds[name][row], got.kinds[name][other]
            if not inserted and was != now:
                verdict.add("kinds", f"{channel}: {', '.join(now)} at {theirs[row, 0]:g}, not {', '.join(was)}")
    if parameters:
        _compare_parameters(wanted, got, verdict, keeps_curve)
    return verdict


def has_sibling(points: Points, name: Name, frame: float) -> bool:
    """Return whether another channel of that rotation has a key there."""
    siblings = (at for (path, _), at in points.items() if path == name[0] and "rotation" in path)
    return any(np.abs(at[:, 0] - frame).min() <= SAME_FRAME for at in siblings)


def _compare_parameters(wanted: Own, got: Own, verdict: Verdict, keeps_curve: bool) -> None:
    for path, (frames, numbers) in wanted.parameters.items():
        if path not in got.parameters:
            # A track without keys is counted as lost already; one whose parameters can't be read is not.
            if any(name[0] == path for name in got.points):
                verdict.add("parameters", f"{path}: none can be read")
            continue
        held, others = got.parameters[path]
        for row, other in _matched(frames, held).items():
            for column, name in enumerate(PARAMETERS):
                a, b = numbers[row, column], others[other, column]
                if keeps_curve and not a:
                    continue
                if not abs(a - b) <= SAME_PARAMETER:
                    verdict.add("parameters", f"{path}: {name} {b:g} at {frames[row]:g}, not {a:g}")


def _matched(wanted: npt.NDArray[Any], got: npt.NDArray[Any]) -> dict[int, int]:
    """Return the rows of frames that are in both, in order."""
    result = {}
    i = j = 0
    while i < len(wanted) and j < len(got):
        if abs(wanted[i] - got[j]) <= SAME_FRAME:
            result[i] = j
            i, j = i + 1, j + 1
        elif wanted[i] < got[j]:
            i += 1
        else:
            j += 1
    return result
