# SPDX-License-Identifier: GPL-3.0-or-later
"""The search for the fewest keys of bones: each by a tolerance of its own first, then all by where points are.

Source: docs/formulas.md, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from ...keys import Float64Array, Keys
from ...rotations.quaternions import angle_between, normalise
from ...splines import hermite
from .fewest_keys import LEVELS, evaluate, fewest_keys, move, within, without_needless
from .skeleton import LOCATION, ROTATION, Joint, Skeleton
from .tcb_curves import curves_of
from .tracks import Part, Reduced, of_rotation, reduced, samples_of
from .windows import KeySet
from .windows import hermite as hermite_weights

_SHARE = 0.45
"""The part of the error that a bone may make by itself when the search begins; a handful of bones add up."""
_ROUNDS = 40
"""The most keys that are put into a segment of rotations, which Hermite's spline plays otherwise, less one."""
_SWEEPS = 2
"""How often all bones are gone through, with all others as they are by then."""


def reduce_skeleton(skeleton: Skeleton) -> Generator[float, None, dict[int, Reduced]]:
    """Search for the fewest keys of all joints, and return them by the joint's number.

    Yields which part of the work is done, about.

    Parameters
    ----------
    skeleton : Skeleton
        It plays what was found in the end.

    Returns
    -------
    dict of int to Reduced
        The parts of a joint are its animated channels, in their order. No point of the skeleton is farther from where
        it was than the skeleton's limits, at any frame, where splines of the method play the keys.
    """
    reach = skeleton.distances_of_points()
    yield from _begin(skeleton, reach)
    groups = range(len(skeleton.groups))
    done = 0
    for sweep in range(_SWEEPS):
        for group in groups[::-1] if sweep % 2 == 0 else groups:
            samples, keys = skeleton.samples(group), skeleton.keys[group]
            keys = without_needless(samples, keys, LEVELS[-1])
            move(samples, keys)
            skeleton.take(group, without_needless(samples, keys, LEVELS[-1]), samples)
            done += 1
            yield 0.4 + 0.6 * done / (_SWEEPS * len(groups))
    if skeleton.method == "HERMITE":
        _mend_rotations(skeleton, reach)
    found = {}
    for group, keys in skeleton.keys.items():
        curves, first = curves_of(skeleton.method, skeleton.parts(group)), 0
        for number, columns in skeleton.columns(group):
            parts = skeleton.joints[number].parts(columns.start)
            found[number] = reduced(keys, curves, parts, 1.0, first)
            first += len(parts)
    return found


def _begin(skeleton: Skeleton, reach: Float64Array) -> Generator[float, None, None]:
    """Give each group keys with a tolerance by what hangs on its joints, and more where that is not enough."""
    joints = skeleton.joints
    alike: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for group, numbers in enumerate(skeleton.groups):
        alike.setdefault(tuple(tuple(joints[number].animated) for number in numbers), []).append(group)
    ratios = {}
    done = 0
    for names, groups in alike.items():
        parts = [
            part
            for place, animated in enumerate(names)
            for part in _parts(skeleton, reach, [skeleton.groups[group][place] for group in groups], animated)
        ]
        samples = samples_of(parts, False, skeleton.method)
        keys = yield from _scaled(fewest_keys(samples), done / len(skeleton.groups), len(groups) / len(skeleton.groups))
        played, errors = evaluate(samples, keys)
        for track, group in enumerate(groups):
            own = keys.keep(keys.track == track)
            own.track[:] = 0
            skeleton.keys[group] = own
            for number, columns in skeleton.columns(group):
                joints[number].play(played[track][:, columns])
            ratios[group] = errors[track]
        done += len(groups)
    mend(skeleton, ratios)
    yield 0.4


def _scaled(steps: Generator[float, None, KeySet], start: float, size: float) -> Generator[float, None, KeySet]:
    """Do steps that are a part of the beginning."""
    while True:
        try:
            part = next(steps)
        except StopIteration as stop:
            keys: KeySet = stop.value
            return keys
        yield 0.3 * (start + size * part)


def _parts(skeleton: Skeleton, reach: Float64Array, numbers: Sequence[int], animated: Sequence[str]) -> list[Part]:
    """Return the channels of joints that have the same animated."""
    allowed = _SHARE * np.stack([skeleton.limits[skeleton.under[number]].min(axis=0) for number in numbers])
    angles = allowed / np.maximum(reach[numbers], 1e-3 * skeleton.error)[:, np.newaxis]
    joints = [skeleton.joints[number] for number in numbers]
    return [
        Part(
            np.stack([getattr(joint, name) for joint in joints]),
            allowed if name == LOCATION else angles,
            name == ROTATION,
            np.stack([joint.given_ends[:, joint.columns[name]] for joint in joints]),
        )
        for name in animated
    ]


def mend(skeleton: Skeleton, ratios: dict[int, Float64Array]) -> None:
    """Give groups more keys until no point is too far away; those first that are farthest off there by themselves."""
    for _ in range(len(skeleton.groups)):
        far = skeleton.errors()
        bad = np.flatnonzero(far.max(axis=0) > 1.0)
        if not len(bad):
            return
        frame = bad[np.argmax(far[:, bad].max(axis=0))]
        point = int(np.argmax(far[:, frame]))
        above = [group for group in ratios if skeleton.takes_along(group, point)]
        worst = max(above, key=lambda group: ratios[group][frame], default=None)
        if worst is None or ratios[worst][frame] <= 0.0:
            return
        samples = skeleton.samples(worst, is_strict=True)
        skeleton.take(worst, within(samples, skeleton.keys[worst]), samples)
        ratios[worst] = np.zeros_like(ratios[worst])


def _mend_rotations(skeleton: Skeleton, reach: Float64Array) -> None:
    """Divide segments where Hermite's spline of rotation vectors leaves the cubic of quaternions by too much.

    The new keys lie on the cubic, which stays as it is; the shorter a segment, the nearer to it is the spline.
    """
    joints = skeleton.joints
    turning = {
        number: (group, columns)
        for group in range(len(skeleton.groups))
        for number, columns in skeleton.columns(group)
        if ROTATION in joints[number].animated
    }
    cubics = {number: normalise(joints[number].channels[ROTATION]) for number in turning}
    changed = set(turning)
    off: dict[int, Float64Array] = {}
    for _ in range(_ROUNDS):
        for number in changed:
            group, columns = turning[number]
            joints[number].channels[ROTATION] = played = _turned(joints[number], skeleton.keys[group], columns)
            off[number] = angle_between(played, cubics[number]) * reach[number]
        far = skeleton.errors()
        cuts: set[tuple[int, int]] = set()
        for frame in np.flatnonzero(far.max(axis=0) > 1.0).tolist():
            point = int(np.argmax(far[:, frame]))
            above = [number for number in turning if point in skeleton.under[number]]
            worst = max(above, key=lambda number: float(off[number][frame]), default=None)
            if worst is None:
                continue
            group = turning[worst][0]
            rows = skeleton.keys[group].rows
            segment = int(np.clip(np.searchsorted(rows, frame, side="right") - 1, 0, len(rows) - 2))
            if rows[segment + 1] - rows[segment] > 1:
                cuts.add((group, int(rows[segment] + rows[segment + 1]) // 2))
        if not cuts:
            return
        for group, row in sorted(cuts):
            skeleton.keys[group] = _divided(skeleton.keys[group], row)
        divided = {group for group, _ in cuts}
        changed = {number for number, (group, _) in turning.items() if group in divided}


def _turned(joint: Joint, keys: KeySet, columns: slice) -> Float64Array:
    """Return the rotations (frames, 4) that Hermite's spline plays."""
    own = joint.columns[ROTATION]
    values, velocities = of_rotation(keys.values[:, columns][:, own], keys.shapes[:, columns][:, own])
    spline = hermite.RotationSpline(Keys(keys.rows.astype(np.float64), values), velocities=velocities)
    return spline(np.arange(len(joint.rotation), dtype=np.float64))


def _divided(keys: KeySet, row: int) -> KeySet:
    """Return the keys with one more at a row between two, on their cubic."""
    at = int(np.searchsorted(keys.rows, row))
    length = float(keys.rows[at] - keys.rows[at - 1])
    u = (row - keys.rows[at - 1]) / length
    start, end = keys.values[at - 1 : at + 1]
    points = np.stack([start, keys.shapes[at - 1] * length, end, keys.shapes[at] * length])
    value = hermite_weights(length, np.array([u]))[0] @ (points / np.array([1.0, length, 1.0, length])[:, np.newaxis])
    slope = np.array([6.0 * u * (u - 1.0), (1.0 - u) * (1.0 - 3.0 * u), 6.0 * u * (1.0 - u), u * (3.0 * u - 2.0)])
    return KeySet(
        np.insert(keys.track, at, keys.track[0]),
        np.insert(keys.rows, at, row),
        np.insert(keys.values, at, value, axis=0),
        np.insert(keys.shapes, at, slope @ points / length, axis=0),
    )
