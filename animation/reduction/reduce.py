# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce dense curves, with one key per frame, to the fewest keys that reproduce the motion within a given error."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import bpy

from ...interp.fitting.reduction import Method
from ..arguments import Count, FrameRange, MoreThanTwo, Positive, checked
from ..many import on_all
from ..options import REDUCE
from ..records import record
from ..report import AnimationError, Finding, JsonResult
from ..steps import Steps, run_steps
from .reduce_datablock import DatablockReduction
from .reducible_tracks import AlreadyMinimalError
from .report import ReduceRequest, Reduction, Together

Selected = Mapping[bpy.types.ID, tuple[Iterable[str] | None, ReduceRequest]]
"""Datablocks, with the path prefixes of their tracks (None for all) and the requested reductions."""
_STEPS = 100
"""Number of steps per datablock."""
_PREPARED = 0.3
"""Finished fraction of a datablock's steps when its search for keys begins."""
_Result = TypeVar("_Result")


@record()
class KeyCount(JsonResult):
    """The number of keys needed to stay within an error.

    Examples
    --------
    >>> (count,) = animation.keys_by_error(ball, [0.01])
    >>> count.keys, count.error
    (3, 0.01)
    """

    error: float
    """The maximum error, in scene units."""
    keys: int
    """The number of frames with keys after the reduction, summed over the bones and the object."""
    before: int
    """The number of frames with keys before the reduction, summed in the same way."""


@checked
def reduce(  # noqa: PLR0913  each is a separate option
    datablock: bpy.types.ID,
    prefixes: Iterable[str] | None = None,
    error: Positive = REDUCE["error"].default,
    angle: Positive = REDUCE["angle"].default,
    key_count: Count | None = None,
    still: Positive | None = None,
    period: MoreThanTwo | None = None,
    together: Together = REDUCE["together"].default,
    frame_range: FrameRange | None = None,
    method: Method = REDUCE["method"].default,
    sample_limit: Count = REDUCE["sample_limit"].default,
    progress: Callable[[int, int], None] | None = None,
) -> Reduction:
    """Reduce dense curves to the fewest keys whose handles reproduce the motion within a given error.

    The keys are written into a copy of the datablock's action, named "<name>.reduced". The original action remains in
    the file, with a fake user. If a track's curves were generated from few keys, these keys are recovered. If handles
    do not reproduce a rotation within the error, keys are added.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks to reduce. Tracks that are already TCB are skipped, and a note lists them.
    prefixes : iterable of str, optional
        Reduce only tracks whose paths start with one of the prefixes.
    error : float
        Maximum error at whole frames. For armatures, this is the distance of any bone's head or tail from its original
        position, in scene units. For other datablocks, this is the deviation of locations and other values, in their
        own units, ignoring the parent's motion.
    angle : float
        Maximum error of object rotations, in radians.
    key_count : int, optional
        Maximum number of keys, counted as in `Reduction.diamonds`. This limit replaces the maximum error. Up to eight
        errors are tried, starting with `error` and `angle`.
    still : float, optional
        Maximum error of bone heads and tails, or of locations, while they are at rest, in scene units. Only a limit
        smaller than `error` has an effect. A point is at rest while it stays within a ball of this radius for at least
        8 frames. The ball is centered on the bounding box of the point's positions.
    period : float, optional
        Shortest period to keep, in frames, greater than 2. Faster oscillations are treated as noise and filtered out
        before the reduction. Errors are relative to the filtered motion, and the filter's effect is measured
        separately. Tracks that were generated from few keys are not filtered.
    together : {"TRACK", "BONE", "COLLECTION", "POSE"}
        The channels that get keys at common frames. TRACK: each track separately. BONE: location, rotation and scale of
        a bone or object. COLLECTION: all bones of a bone collection (a bone's first collection). POSE: all bones of an
        armature, or all tracks of another datablock.
    frame_range : (float, float), optional
        The first and last whole frames to reduce. Keys outside this range, and their motion, do not change. New keys
        start and end at the existing values. HERMITE also fits the velocities at the ends as closely as possible.
    method : {"HERMITE", "TCB"}
        The type of the new keys. HERMITE keys have velocities, which minimizes the number of keys for locations and
        rotations. TCB keys have one tension and one bias for each location, rotation or scale.
    sample_limit : int
        Maximum number of samples, that is, frames times components. If more samples would be needed, nothing is
        changed.
    progress : callable, optional
        Called with the number of finished steps and the total number of steps.

    Returns
    -------
    Reduction
        Key counts before and after the reduction, the time it took, and errors measured on the motion that the handles
        play. If the number of keys could not be reduced, `is_minimal` is true, and nothing was changed.

    Raises
    ------
    AnimationError
        Nothing is keyed, all tracks are TCB or locked, `key_count` is too small, or physics moves an armature. Nothing
        was changed.

    Examples
    --------
    >>> animation.reduce(ball, error=0.01).reached
    True
    """
    request = ReduceRequest(error, angle, key_count, still, period, together, frame_range, method, sample_limit)
    reductions, refused = run_steps(reduce_steps({datablock: (prefixes, request)}), progress)
    if refused:
        raise AnimationError(*refused)
    return reductions[0]


@on_all(reduce)
def reduce_many(
    datablocks: Mapping[bpy.types.ID, list[str] | None], *options: Any
) -> tuple[list[Reduction], list[Finding]]:
    """Reduce dense curves of several datablocks (see `reduce`).

    Returns
    -------
    list of Reduction, list of Finding
        The reductions, and the errors for datablocks that could not be reduced. These datablocks are unchanged.

    Examples
    --------
    >>> reduced, refused = animation.reduce_many([ball], error=0.01)
    >>> reduced[0].reached, refused
    (True, [])
    """
    *request, progress = options
    selected = {datablock: (prefixes, ReduceRequest(*request)) for datablock, prefixes in datablocks.items()}
    return run_steps(reduce_steps(selected), progress)


@checked
def keys_by_error(  # noqa: PLR0913  as `reduce`
    datablock: bpy.types.ID,
    errors: Iterable[Positive],
    prefixes: Iterable[str] | None = None,
    still: Positive | None = None,
    period: MoreThanTwo | None = None,
    together: Together = REDUCE["together"].default,
    frame_range: FrameRange | None = None,
    method: Method = REDUCE["method"].default,
    sample_limit: Count = REDUCE["sample_limit"].default,
    progress: Callable[[int, int], None] | None = None,
) -> list[KeyCount]:
    """Return the number of keys that `reduce` needs for each error, without changing anything.

    `reduce` may add a few keys that only the handles need, counted as `mended`.

    Parameters
    ----------
    datablock : bpy.types.ID
    errors : iterable of float
        Errors in scene units. The maximum angle of object rotations is proportional to the error: half a degree for an
        error of 0.005.
    prefixes, still, period, together, frame_range, method, sample_limit, progress
        See `reduce`.

    Returns
    -------
    list of KeyCount
        The key counts, in the order of the errors.

    Raises
    ------
    AnimationError
        See `reduce`.

    Examples
    --------
    >>> [count.keys for count in animation.keys_by_error(ball, [0.001, 0.01])]
    [3, 3]
    """
    request = ReduceRequest(
        still=still,
        period=period,
        together=together,
        frame_range=frame_range,
        method=method,
        sample_limit=sample_limit,
    )
    errors = list(errors)
    factors = [error / request.error for error in errors]
    counts, refused = run_steps(keys_by_error_steps({datablock: (prefixes, request)}, factors), progress)
    if refused:
        raise AnimationError(*refused)
    # Multiplying a factor by the error of the request may round.
    return [replace(count, error=error) for count, error in zip(counts, errors, strict=True)]


def reduce_steps(selected: Selected) -> Steps[tuple[list[Reduction], list[Finding]]]:
    """Reduce several datablocks step by step. Yield the number of finished steps and the total number of steps.

    Nothing is changed until all keys are found. Returns the reductions, and the errors for datablocks that could not be
    reduced. These datablocks are unchanged.
    """
    finished_searches: list[DatablockReduction] = []
    written: list[DatablockReduction] = []
    reductions: list[Reduction] = []
    refused: list[Finding] = []
    for number, (datablock, (prefixes, request)) in enumerate(selected.items()):
        try:
            search = DatablockReduction(datablock, prefixes, request)
            yield from _progress(number, len(selected), search.prepare(), 0.0, _PREPARED)
            yield from _progress(number, len(selected), search.choose(), _PREPARED, 1.0)
        except AlreadyMinimalError as minimal:
            reductions.append(minimal.result)
        except AnimationError as refusal:
            refused += refusal.findings
        else:
            finished_searches.append(search)
    for search in finished_searches:
        try:
            reduction = search.write()
        except AnimationError as refusal:
            search.discard_copy()
            refused += refusal.findings
            continue
        reductions.append(reduction)
        if not reduction.is_minimal:
            written.append(search)
    for search in written:
        search.note_other_users()
    return reductions, refused


def keys_by_error_steps(selected: Selected, factors: Sequence[float]) -> Steps[tuple[list[KeyCount], list[Finding]]]:
    """Count the keys that all datablocks need for each factor of the error, step by step, without changing anything.

    Returns the counts, and the errors for datablocks that could not be counted. All requests have the same error.
    """
    counts_by_datablock: list[tuple[int, list[int]]] = []
    refused: list[Finding] = []
    for number, (datablock, (prefixes, request)) in enumerate(selected.items()):
        try:
            search = DatablockReduction(datablock, prefixes, request)
            yield from _progress(number, len(selected), search.prepare(), 0.0, _PREPARED)
            counts = []
            for index, factor in enumerate(factors):
                start, end = (_PREPARED + (1.0 - _PREPARED) * done / len(factors) for done in (index, index + 1))
                keys = yield from _progress(number, len(selected), search.fit(factor), start, end)
                counts.append(search.diamonds(keys))
            counts_by_datablock.append((search.diamonds_before, counts))
        except AlreadyMinimalError as minimal:
            counts_by_datablock.append((minimal.result.diamonds, [minimal.result.diamonds] * len(factors)))
        except AnimationError as refusal:
            refused += refusal.findings
    if not counts_by_datablock:
        return [], refused
    error = next(iter(selected.values()))[1].error
    total_before = sum(before for before, _ in counts_by_datablock)
    totals = [sum(column) for column in zip(*(counts for _, counts in counts_by_datablock), strict=True)]
    return [KeyCount(error * factor, keys, total_before) for factor, keys in zip(factors, totals, strict=True)], refused


def _progress(
    number: int, total: int, steps: Generator[float, None, _Result], start: float, end: float
) -> Steps[_Result]:
    """Run the steps for one of several datablocks, while the finished fraction increases from `start` to `end`."""
    while True:
        try:
            fraction = start + (end - start) * next(steps)
        except StopIteration as stop:
            result: _Result = stop.value
            return result
        yield int(_STEPS * (number + fraction)), _STEPS * total
