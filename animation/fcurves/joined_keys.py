# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of many channels, one channel after another.

A NumPy call takes as long for ten keys as for a thousand, so keys of many channels are processed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..records import record
from .keyframes import DTYPES, NAMES, BoolArray, IndexArray, Keyframes


@record(eq=False)
class Joined:
    """The keys of several channels, one channel after another. `counts` contains the number of keys per channel."""

    keys: Keyframes
    counts: list[int]

    @classmethod
    def of(cls, channels: Sequence[Keyframes]) -> Joined:
        """Concatenate the keys of several channels."""
        return cls(end_to_end(channels), [len(keys) for keys in channels])

    @cached_property
    def ends(self) -> list[int]:
        """Return 0, followed by the end row of each channel."""
        return [0, *accumulate(self.counts)]

    @cached_property
    def starts(self) -> IndexArray:
        """Return the first row of each channel."""
        return np.array(self.ends[:-1], dtype=np.intp)

    @property
    def spans(self) -> list[slice]:
        """Return the row slice of each channel."""
        return [slice(start, end) for start, end in pairwise(self.ends)]

    @property
    def channels(self) -> list[KeyframesSlice]:
        """Return the keys of each channel."""
        return [KeyframesSlice(self.keys, span) for span in self.spans]

    def of_channels(self, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Split an array with one element per row into one array per channel."""
        return in_parts(array, self.counts)

    def sums(self, mask: BoolArray) -> IndexArray:
        """Return the number of rows per channel for which the mask is true."""
        true_before = np.concatenate(([0], np.cumsum(mask, dtype=np.intp)))
        counts: IndexArray = np.diff(true_before[self.ends])
        return counts

    def spread(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Expand an array with one element per channel to one element per row."""
        return np.repeat(array, self.counts)


class KeyframesSlice(Keyframes):
    """The keys of one channel, as a view of the keys of many channels. Attributes are sliced on first access.

    A channel has fourteen attributes, and most callers need only a few. `all_keys` contains the concatenated keys of
    all channels, and `rows` is the slice for this channel.
    """

    all_keys: Keyframes
    rows: slice

    def __init__(self, all_keys: Keyframes, rows: slice) -> None:
        self.all_keys, self.rows = all_keys, rows

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        if name not in DTYPES:
            raise AttributeError(name)
        array: npt.NDArray[Any] = getattr(self.all_keys, name)[self.rows]
        vars(self)[name] = array
        return array


def end_to_end(channels: Sequence[Keyframes]) -> Keyframes:
    """Concatenate the keys of several channels. Consecutive slices of the same keys are not copied."""
    slices = [keys for keys in channels if isinstance(keys, KeyframesSlice)]
    if slices and len(slices) == len(channels) and all(keys.all_keys is slices[0].all_keys for keys in slices):
        spans = [keys.rows for keys in slices]
        if are_consecutive(spans):
            return KeyframesSlice(slices[0].all_keys, slice(spans[0].start, spans[-1].stop))
    return Keyframes(**{name: np.concatenate([getattr(keys, name) for keys in channels]) for name in NAMES})


def merged(first: Keyframes, second: Keyframes) -> Keyframes:
    """Return the keys of both arguments, ordered by frame."""
    keys = end_to_end([first, second])
    return keys.take(np.argsort(keys.frames, kind="stable"))


def are_consecutive(spans: Sequence[slice]) -> bool:
    """Return whether each slice starts at the end of the previous slice."""
    return [span.start for span in spans[1:]] == [span.stop for span in spans[:-1]]


def in_parts(array: npt.NDArray[Any], counts: Sequence[int]) -> list[npt.NDArray[Any]]:
    """Split an array into parts with the given row counts, ten times as fast as `np.split`."""
    return [array[start:end] for start, end in pairwise(accumulate(counts, initial=0))]
