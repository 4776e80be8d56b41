# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest keys of bones, first with a tolerance per bone, then by the positions of points.

Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import numpy as np

from ...hermite_basis import hermite_weights
from ...keys import Float64Array
from .fewest_keys import errors_of, fewest_keys, improved, part_of_steps, within, without_needless
from .skeleton import LOCATION, ROTATION, Skeleton
from .tracks import Reduced, SampledTracks, reduced, samples_of
from .windows import KeySet, Method

_SHARE = 0.6
"""The fraction of the error that one bone may cause when the search begins. The errors of several bones add up."""
_FAR = 1.5
"""The number of keys that a group may have before its pass, relative to its original keys. The pass then removes some
of these keys."""
_ROUNDS = 12
"""One less than the maximum number of keys added to a segment in which splines deviate."""
_SWEEPS = 2
"""The number of passes over all bones."""


def reduce_skeleton(
    skeleton: Skeleton, method: Method = "HERMITE", most: Mapping[int, int] | None = None
) -> Generator[float, None, dict[int, Reduced]]:
    """Search for the fewest keys of all joints, and return the keys by joint number.

    Yields the approximate fraction of the work that is done.

    Parameters
    ----------
    skeleton : Skeleton
        The skeleton, which plays the result afterward.
    method : "HERMITE" or "TCB"
    most : mapping of int to int, optional
        The number of keys of each joint. Groups that would need at least this many keys keep their original motion.

    Returns
    -------
    dict of int to Reduced
        The parts of a joint are its animated channels, in order. With splines of the method, no point deviates by more
        than the skeleton's limits at any frame.
    """
    if not skeleton.groups:
        return {}
    reach = skeleton.distances_of_points()
    ratios = yield from part_of_steps(_begin(skeleton, reach), 0.0, 0.3)
    _leave(skeleton, most or {}, _FAR)
    if method == "HERMITE":
        yield from part_of_steps(_sweeps(skeleton, _SWEEPS), 0.3, 0.7)
    else:
        skeleton.smooth = {
            group: np.concatenate([skeleton.joints[number].played for number in numbers], axis=1)
            for group, numbers in enumerate(skeleton.groups)
        }
        for batch in skeleton.batches():
            samples = skeleton.samples(batch)
            skeleton.take(batch, within(samples, skeleton.keys_of(batch)), samples)
            yield 0.4
        yield from part_of_steps(_sweeps(skeleton, _SWEEPS), 0.4, 0.6)
    _leave(skeleton, most or {}, 1.0)
    _mend(skeleton, ratios)
    return _played_by_splines(skeleton, method, reach)


def _leave(skeleton: Skeleton, most: Mapping[int, int], factor: float) -> None:
    """Make groups play their original keys if the result needs at least as many keys."""
    for group in [*skeleton.keys]:
        own = max((most[number] for number in skeleton.groups[group] if number in most), default=None)
        if own is not None and len(skeleton.keys[group].rows) >= factor * own:
            skeleton.leave(group)


def _played_by_splines(skeleton: Skeleton, method: Method, reach: Float64Array) -> dict[int, Reduced]:
    """Return the keys, with more in segments where splines of the method deviate too much from the cubics.

    The new keys are on the cubics. Splines deviate less in shorter segments.
    """
    joints = skeleton.joints
    cubics = {number: joints[number].played for group in skeleton.keys for number in skeleton.groups[group]}
    found: dict[int, Reduced] = {}
    changed = set(skeleton.keys)
    for _ in range(_ROUNDS):
        off: dict[int, Float64Array] = {}
        for group in changed:
            for number, columns in skeleton.columns(group):
                found[number] = reduced(skeleton.keys[group], joints[number].parts(columns.start), 1.0, method)
                joints[number].play(found[number].played(len(joints[number].rotation)))
        skeleton.pose()
        far = skeleton.errors()
        cuts: set[tuple[int, int]] = set()
        for frame in np.flatnonzero(far.max(axis=0) > 1.0).tolist():
            point = int(np.argmax(far[:, frame]))
            for group in skeleton.keys:
                for number in skeleton.groups[group]:
                    if point in skeleton.under[number] and number not in off:
                        deviation = np.abs(joints[number].played - cubics[number])
                        off[number] = deviation.max(axis=1) * max(reach[number], skeleton.error)
            above = [
                (float(off[number][frame]), group)
                for group in skeleton.keys
                for number in skeleton.groups[group]
                if point in skeleton.under[number]
            ]
            rows = skeleton.keys[max(above)[1]].rows if above else np.zeros(1)
            segment = int(np.clip(np.searchsorted(rows, frame, side="right") - 1, 0, max(len(rows) - 2, 0)))
            if len(rows) > 1 and rows[segment + 1] - rows[segment] > 1:
                cuts.add((max(above)[1], int(rows[segment] + rows[segment + 1]) // 2))
        if not cuts:
            break
        for group, row in sorted(cuts):
            skeleton.keys[group] = _divided(skeleton.keys[group], row)
        changed = {group for group, _ in cuts}
    return found


def _divided(keys: KeySet, row: int) -> KeySet:
    """Return the keys with one more key on the cubic at a row between two keys."""
    at = int(np.searchsorted(keys.rows, row))
    length = float(keys.rows[at] - keys.rows[at - 1])
    u = np.array((row - keys.rows[at - 1]) / length)
    (start, end), (leaving, arriving) = keys.values[at - 1 : at + 1], keys.velocities[at - 1 : at + 1] * length
    value, slope = (
        weights.chord * (end - start) + weights.leaving * leaving + weights.arriving * arriving
        for weights in (hermite_weights(u), hermite_weights(u, 1))
    )
    return KeySet(
        np.insert(keys.track, at, keys.track[0]),
        np.insert(keys.rows, at, row),
        np.insert(keys.values, at, start + value, axis=0),
        np.insert(keys.velocities, at, slope / length, axis=0),
    )


def _sweeps(skeleton: Skeleton, count: int) -> Generator[float, None, None]:
    """Remove and move keys of all groups, from the tips to the root and back.

    Yield the fraction of the work that is done.
    """
    done, batches = 0, skeleton.batches()
    for sweep in range(count):
        for batch in batches[::-1] if sweep % 2 == 0 else batches:
            samples, keys = skeleton.samples(batch), skeleton.keys_of(batch)
            skeleton.take(batch, improved(samples, without_needless(samples, keys)), samples)
            done += 1
            yield done / (count * len(batches))


def _begin(skeleton: Skeleton, reach: Float64Array) -> Generator[float, None, dict[int, Float64Array]]:
    """Create keys for each group with a tolerance based on the reach of its joints, and add keys where needed.

    Return the errors that each group causes on its own, at each frame.
    """
    joints = skeleton.joints
    alike: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for group, numbers in enumerate(skeleton.groups):
        alike.setdefault(tuple(tuple(joints[number].animated) for number in numbers), []).append(group)
    ratios: dict[int, Float64Array] = {}
    for names, groups in alike.items():
        parts = [
            part
            for place, animated in enumerate(names)
            for part in _parts(skeleton, reach, [skeleton.groups[group][place] for group in groups], animated)
        ]
        samples = samples_of(parts)
        share = len(groups) / len(skeleton.groups)
        keys = yield from part_of_steps(fewest_keys(samples), len(ratios) / len(skeleton.groups), share)
        errors = errors_of(samples, keys)
        skeleton.take(groups, keys, samples)
        ratios |= dict(zip(groups, errors, strict=True))
    _mend(skeleton, ratios)
    return ratios


def _parts(
    skeleton: Skeleton, reach: Float64Array, numbers: Sequence[int], animated: Sequence[str]
) -> list[SampledTracks]:
    """Return the channels of joints that animate the same channels."""
    allowed = _SHARE * np.stack([skeleton.limits[skeleton.under[number]].min(axis=0) for number in numbers])
    angles = allowed / np.maximum(reach[numbers], 1e-3 * skeleton.error)[:, np.newaxis]
    joints = [skeleton.joints[number] for number in numbers]
    return [
        SampledTracks(
            np.stack([getattr(joint, name) for joint in joints]),
            allowed if name == LOCATION else angles,
            name == ROTATION,
            np.stack([joint.given_ends[:, joint.columns[name]] for joint in joints]),
        )
        for name in animated
    ]


def _mend(skeleton: Skeleton, ratios: dict[int, Float64Array]) -> None:
    """Add keys to groups until no point deviates too much, starting with the groups that deviate most on their own."""
    ratios = {group: own for group, own in ratios.items() if group in skeleton.keys}
    while True:
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
        samples = skeleton.samples([worst], is_strict=True)
        skeleton.take([worst], within(samples, skeleton.keys_of([worst]), is_fitted=True), samples)
        ratios[worst] = np.zeros_like(ratios[worst])
