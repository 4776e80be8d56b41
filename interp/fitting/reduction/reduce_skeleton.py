# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest keys of bones, first with a tolerance per bone, then by the positions of points.

Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from ...keys import Float64Array
from ...spline_batch import evaluate_many
from .fewest_keys import (
    errors_of,
    first_keys,
    improved,
    part_of_steps,
    with_keys_at,
    within,
)
from .reduce_tracks import Reduced, split_keys
from .skeleton import Skeleton
from .windows import KeySet, Samples

_FIRST_SHARE = 0.7
"""The fraction of the error that one bone may cause when the search begins. The errors of several bones add up."""
_FIRST_LIMIT = 1.5
"""The number of keys that a group may have before its pass, relative to its original keys. The pass then removes some
of these keys."""
_ROUNDS = 12
"""One less than the maximum number of keys added to a segment in which splines deviate."""


def reduce_skeleton(
    skeleton: Skeleton, key_counts: Mapping[int, int] | None = None
) -> Generator[float, None, dict[int, Reduced]]:
    """Search for the fewest keys of all joints, and return the keys by joint number.

    Yields the approximate fraction of the work that is done.

    Parameters
    ----------
    skeleton : Skeleton
        The skeleton, which plays the result afterward.
    key_counts : mapping of int to int, optional
        The number of keys of each joint. Groups that would need at least this many keys keep their original motion.

    Returns
    -------
    dict of int to Reduced
        The parts of a joint are its animated channels, in order. With the splines of these keys, no point deviates by
        more than the skeleton's limits at any frame.
    """
    if not skeleton.groups:
        return {}
    reach = skeleton.distances_of_points()
    errors = yield from part_of_steps(_find_first_keys(skeleton), 0.0, 0.3)
    _remove_useless_keys(skeleton, key_counts or {}, _FIRST_LIMIT)
    yield from part_of_steps(_thinned(skeleton), 0.3, 0.7)
    _remove_useless_keys(skeleton, key_counts or {}, 1.0)
    _add_keys(skeleton, errors)
    return _played_by_splines(skeleton, reach)


def _find_first_keys(skeleton: Skeleton) -> Generator[float, None, dict[int, Float64Array]]:
    """Create keys for each group within a fraction of the error, and add keys where the groups together need more.

    Return the errors that each group causes on its own, at each frame.
    """
    errors: dict[int, Float64Array] = {}
    first: list[tuple[list[int], KeySet, Samples]] = []
    for batch in skeleton.alike():
        # Before the keys are set, the other groups play their samples.
        samples = skeleton.samples(batch, _FIRST_SHARE)
        keys = within(samples, first_keys(samples))
        errors |= dict(zip(batch, errors_of(samples, keys), strict=True))
        first.append((batch, keys, samples))
        yield len(errors) / len(skeleton.groups)
    for batch, keys, samples in first:
        skeleton.set_keys(batch, keys, samples)
    _add_keys(skeleton, errors)
    return errors


def _add_keys(skeleton: Skeleton, errors: dict[int, Float64Array]) -> None:
    """Add keys to groups until no point deviates too much, starting with the groups that deviate most on their own.

    `errors` contains the errors that each group causes on its own, at each frame.
    """
    errors = {group: group_errors for group, group_errors in errors.items() if group in skeleton.keys}
    while True:
        point_errors = skeleton.errors()
        inaccurate = np.flatnonzero(point_errors.max(axis=0) > 1.0)
        if not len(inaccurate):
            return
        frame = inaccurate[np.argmax(point_errors[:, inaccurate].max(axis=0))]
        point = int(np.argmax(point_errors[:, frame]))
        movers = [group for group in errors if skeleton.moves_point(group, point)]
        worst = max(movers, key=lambda group: errors[group][frame], default=None)
        if worst is None or errors[worst][frame] <= 0.0:
            return
        samples = skeleton.samples([worst], 1.0)
        skeleton.set_keys([worst], within(samples, skeleton.keys_of([worst]), is_fitted=True), samples)
        errors[worst] = np.zeros_like(errors[worst])


def _remove_useless_keys(skeleton: Skeleton, key_counts: Mapping[int, int], factor: float) -> None:
    """Make groups play their samples if they need at least as many keys as they had, times a factor."""
    for group in [*skeleton.keys]:
        counts = [key_counts[number] for number in skeleton.groups[group] if number in key_counts]
        if counts and len(skeleton.keys[group].rows) >= factor * max(counts):
            skeleton.remove_keys(group)


def _thinned(skeleton: Skeleton) -> Generator[float, None, None]:
    """Remove and move keys of all groups, from the root to the tips. Yield the finished fraction."""
    batches = skeleton.batches()
    for number, batch in enumerate(batches):
        samples = skeleton.samples(batch)
        skeleton.set_keys(batch, improved(samples, skeleton.keys_of(batch)), samples)
        yield (number + 1) / len(batches)


def _played_by_splines(skeleton: Skeleton, reach: Float64Array) -> dict[int, Reduced]:
    """Return the keys, with more in segments where splines of the method deviate too much from the cubics.

    The new keys are on the cubics. Splines deviate less in shorter segments.
    """
    joints = skeleton.joints
    frames = np.arange(float(len(joints[0].rotation)))
    cubics = {number: joints[number].played for group in skeleton.keys for number in skeleton.groups[group]}
    reduced: dict[int, Reduced] = {}
    changed_groups = set(skeleton.keys)
    for _ in range(_ROUNDS):
        changed = {
            number: split_keys(skeleton.keys[group], joints[number].parts(columns.start), 1.0, skeleton.method)
            for group in changed_groups
            for number, columns in skeleton.columns(group)
        }
        reduced |= changed
        splines = [keys.spline(part) for keys in changed.values() for part in range(len(keys.values))]
        values = iter(evaluate_many(splines, frames))
        for number, keys in changed.items():
            joints[number].play(np.concatenate([next(values) for _ in keys.values], axis=1))
        skeleton.update_poses(number for group in changed_groups for number in skeleton.groups[group])
        new_rows = _rows_to_add(skeleton, cubics, reach)
        if not new_rows:
            break
        for group, row in sorted(new_rows):
            skeleton.keys[group] = with_keys_at(skeleton.keys[group], np.array([row]))
        changed_groups = {group for group, _ in new_rows}
    return reduced


def _rows_to_add(skeleton: Skeleton, cubics: Mapping[int, Float64Array], reach: Float64Array) -> set[tuple[int, int]]:
    """Return groups and rows for more keys: the middles of segments in which splines cause errors that are too large.

    At each such frame, the group whose splines move the worst point farthest from the cubics gets a key.
    """
    errors = skeleton.errors()
    deviations: dict[int, Float64Array] = {}
    new_rows: set[tuple[int, int]] = set()
    for frame in np.flatnonzero(errors.max(axis=0) > 1.0).tolist():
        point = int(np.argmax(errors[:, frame]))
        causes: list[tuple[float, int]] = []
        for group in skeleton.keys:
            for number in skeleton.groups[group]:
                if point in skeleton.under[number]:
                    if number not in deviations:
                        deviation = np.abs(skeleton.joints[number].played - cubics[number])
                        deviations[number] = deviation.max(axis=1) * max(reach[number], skeleton.error)
                    causes.append((float(deviations[number][frame]), group))
        if not causes:
            continue
        _, group = max(causes)
        rows = skeleton.keys[group].rows
        segment = int(np.clip(np.searchsorted(rows, frame, side="right") - 1, 0, max(len(rows) - 2, 0)))
        if len(rows) > 1 and rows[segment + 1] - rows[segment] > 1:
            new_rows.add((group, int(rows[segment] + rows[segment + 1]) // 2))
    return new_rows
