# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduction of dense curves, a key a frame, to the fewest keys whose handles play the same motion within an error."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, TypeVar

import bpy

from ...interp.fitting.reduction import Method
from ..arguments import Count, Datablocks, FrameRange, MoreThanTwo, Positive, by_datablock, checked
from ..errors import AnimationError, Finding, as_dict
from ..options import REDUCE
from ..records import record
from ..steps import Steps, run_steps
from .reduce_datablock import AlreadyMinimalError, DatablockReduction
from .reduce_request import ReduceRequest, Together
from .result import Reduction

Selected = Mapping[bpy.types.ID, tuple[Iterable[str] | None, ReduceRequest]]
"""Datablocks with the paths that tracks must start with, None for all, and what is wanted of them."""
_STEPS = 100
T = TypeVar("T")


@record()
class KeyCount:
    """How many keys an error needs.

    Examples
    --------
    >>> (count,) = animation.keys_by_error(ball, [0.01])
    >>> count.keys, count.error
    (3, 0.01)
    """

    error: float
    """Scene units."""
    keys: int
    """Frames at which a bone or the object has keys, summed over them."""
    before: int
    """The same as it is."""

    def to_dict(self) -> dict[str, Any]:
        """Return the count as JSON has it."""
        return as_dict(self)


@checked
def reduce(  # noqa: PLR0913  each is a choice of its own
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
    """Reduce dense curves to the fewest keys whose handles play the motion within an error.

    The keys go into a copy of the datablock's action, named "<name>.reduced". The original stays in the file, with a
    fake user. Tracks whose curves were made from few keys get these back. Where handles don't play rotations within the
    error there are more keys.

    Parameters
    ----------
    datablock : bpy.types.ID
        Its tracks must not be TCB yet; those that are stay as they are, with a note.
    prefixes : iterable of str, optional
        Only tracks whose paths start with one of them.
    error : float
        For armatures how far the head and the tail of any bone may be from where it was, at any whole frame, in scene
        units; otherwise how far locations and other values, in their own units, whatever moves the parent.
    angle : float
        Radians: how far rotations of objects may be off.
    key_count : int, optional
        At most so many keys, as `Reduction.diamonds` counts them, in place of an error: up to eight errors are tried.
        `error` is the one that it begins with, and `angle` what goes with that.
    still : float, optional
        Scene units: how far heads and tails of bones, or locations, may be off while they stand still, where that is
        less than the error. They do where they keep within a ball of this radius, about the middle of their box, for
        8 frames or more.
    period : float, optional
        Frames, more than 2: what swings faster than once in so many is taken for noise, and filtered away before.
        The error then counts from the filtered motion; what the filter took away is measured by itself. Tracks that
        were made from few keys are not filtered.
    together : {"TRACK", "BONE", "COLLECTION", "POSE"}
        What has its keys at common frames: each track for itself; location, rotation and scale of a bone or object; all
        bones of a bone collection (the first that a bone is in); all bones of an armature, or all tracks of another
        datablock.
    frame_range : (float, float), optional
        Reduce only the keys from one whole frame to another. All other keys and their motion stay as they are. New
        keys begin and end at the values there. HERMITE also fits the velocities there as closely as it can.
    method : {"HERMITE", "TCB"}
        What plays the keys: velocities, with which locations and rotations need the fewest; or tension and bias, one
        of each for a location, rotation or scale.
    sample_limit : int
        More samples than this, frames times components, are refused.
    progress : callable, optional
        Called with the steps done, and how many there are.

    Returns
    -------
    Reduction
        Keys before and after, time and errors, measured of what the handles play. Where no fewer keys were found it is
        minimal, and nothing was changed.

    Raises
    ------
    AnimationError
        Nothing is keyed, all tracks are TCB or locked, so few keys are not enough, or more than F-curves and parents
        moves a bone. Nothing was changed.

    Examples
    --------
    >>> animation.reduce(ball, error=0.01).reached
    True
    """
    wanted = ReduceRequest(error, angle, key_count, still, period, together, frame_range, method, sample_limit)
    found, refused = run_steps(reduce_steps({datablock: (prefixes, wanted)}), progress)
    if refused:
        raise AnimationError(*refused)
    return found[0]


@checked
def reduce_many(  # noqa: PLR0913  as `reduce`
    datablocks: Datablocks,
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
) -> tuple[list[Reduction], list[Finding]]:
    """Reduce dense curves of several datablocks, as `reduce` does.

    Parameters
    ----------
    datablocks : iterable of bpy.types.ID
        The datablocks, or a mapping from each datablock to its own prefixes.
    prefixes, error, angle, key_count, still, period, together, frame_range, method, sample_limit, progress
        As for `reduce`.

    Returns
    -------
    list of Reduction, list of Finding
        The reductions, and findings for what was refused and left unchanged.

    Examples
    --------
    >>> reduced, refused = animation.reduce_many([ball], error=0.01)
    >>> reduced[0].reached, refused
    (True, [])
    """
    wanted = ReduceRequest(error, angle, key_count, still, period, together, frame_range, method, sample_limit)
    selected = {datablock: (own, wanted) for datablock, own in by_datablock(datablocks, prefixes).items()}
    return run_steps(reduce_steps(selected), progress)


@checked
def keys_by_error(  # noqa: PLR0913  each is one thing to choose, as in `reduce`
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
    """Return how many keys `reduce` would leave for each of some errors; nothing is changed.

    Parameters
    ----------
    datablock : bpy.types.ID
    errors : iterable of float
        Scene units. The angle of rotations of objects goes along: half a degree for an error of 0.005.
    prefixes, still, period, together, frame_range, method, sample_limit, progress
        As of `reduce`.

    Returns
    -------
    list of KeyCount
        In the order of the errors.

    Raises
    ------
    AnimationError
        As of `reduce`.

    Examples
    --------
    >>> [count.keys for count in animation.keys_by_error(ball, [0.001, 0.01])]
    [3, 3]
    """
    wanted = ReduceRequest(
        still=still,
        period=period,
        together=together,
        frame_range=frame_range,
        method=method,
        sample_limit=sample_limit,
    )
    factors = [error / wanted.error for error in errors]
    found, refused = run_steps(keys_by_error_steps({datablock: (prefixes, wanted)}, factors), progress)
    if refused:
        raise AnimationError(*refused)
    return found


def reduce_steps(selected: Selected) -> Steps[tuple[list[Reduction], list[Finding]]]:
    """Reduce as `reduce` does several datablocks, step by step; yield the steps done and how many there are.

    Nothing is changed before all keys are found. Returns what was refused, too; then that is as it was.
    """
    found: list[DatablockReduction] = []
    results: list[Reduction] = []
    written: list[DatablockReduction] = []
    refused: list[Finding] = []
    for number, (datablock, (prefixes, wanted)) in enumerate(selected.items()):
        try:
            search = DatablockReduction(datablock, prefixes, wanted)
            yield from _parts(number, len(selected), search.prepare(), 0.0, 0.3)
            yield from _parts(number, len(selected), search.choose(), 0.3, 1.0)
        except AlreadyMinimalError as minimal:
            results.append(minimal.result)
        except AnimationError as refusal:
            refused += refusal.findings
        else:
            found.append(search)
    for search in found:
        try:
            results.append(search.write())
            if not results[-1].is_minimal:
                written.append(search)
        except AnimationError as refusal:
            search.take_back()
            refused += refusal.findings
    for search in written:
        search.say_who_shares()
    return results, refused


def keys_by_error_steps(selected: Selected, factors: Iterable[float]) -> Steps[tuple[list[KeyCount], list[Finding]]]:
    """Count the keys for so many times the error, all datablocks together, step by step; change nothing."""
    each = list(factors)
    counts, before, error = [0] * len(each), 0, 0.0
    refused: list[Finding] = []
    for number, (datablock, (prefixes, wanted)) in enumerate(selected.items()):
        try:
            search = DatablockReduction(datablock, prefixes, wanted)
            yield from _parts(number, len(selected), search.prepare(), 0.0, 0.3)
            for place, factor in enumerate(each):
                start, end = (0.3 + 0.7 * part / len(each) for part in (place, place + 1))
                counts[place] += search.diamonds(
                    (yield from _parts(number, len(selected), search.fit(factor), start, end))
                )
        except AlreadyMinimalError as minimal:
            counts = [count + minimal.result.diamonds for count in counts]
            before, error = before + minimal.result.diamonds, wanted.error
        except AnimationError as refusal:
            refused += refusal.findings
        else:
            before += search.diamonds_before
            error = wanted.error
    return [
        KeyCount(error * factor, count, before) for factor, count in zip(each, counts, strict=True) if before
    ], refused


def _parts(number: int, total: int, steps: Generator[float, None, T], start: float, end: float) -> Steps[T]:
    """Do the steps of one datablock of several, from one part of its work to another."""
    while True:
        try:
            part = start + (end - start) * next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result
        yield int(_STEPS * (number + part)), _STEPS * total
