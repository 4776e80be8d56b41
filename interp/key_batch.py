# SPDX-License-Identifier: GPL-3.0-or-later
"""The concatenated keys of several tracks, with the neighbors of each key.

Segment ``k`` runs from key ``k`` to the next. The last key of a track begins a zero-length segment that holds its
value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .keys import Float64Array, Keys

IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KeyBatch:
    """The K concatenated keys of several tracks, with the neighbors of each key.

    The first key of a track that is not a loop has no previous key. For this key, `previous` is the key itself and
    `before` is 0. The same applies to `following` and `after` at the last key.
    """

    frames: Float64Array
    """Shape (K,)."""
    parameters: Float64Array
    """Rows of tension, continuity, bias, ease to and ease from, shape (5, K)."""
    values: Float64Array
    """Shape (K, d)."""
    first: IndexArray
    last: IndexArray
    """The first and last keys of each track."""
    previous: IndexArray
    following: IndexArray
    """The keys before and after each key, shape (K,)."""
    before: Float64Array
    after: Float64Array
    """The distances to these keys in frames, shape (K,)."""
    looped: BoolArray
    """A mask of the tracks that continue across the seam, where the last key of the track is the first."""

    @classmethod
    def of(cls, keys: Sequence[Keys], is_loop: Sequence[bool]) -> KeyBatch:
        """Concatenate the keys of tracks and find the neighbors of every key. `is_loop` has one element per track."""
        counts = np.array([len(keys_of_track) for keys_of_track in keys])
        frames = np.concatenate([keys_of_track.frames for keys_of_track in keys])
        stop = np.cumsum(counts)
        first, last = stop - counts, stop - 1
        # A loop of two keys is computed as a track of two keys (docs/formulas, "Cycles").
        looped = np.array(is_loop) & (counts > 2)

        key = np.arange(len(frames))
        previous, following = key - 1, key + 1
        previous[first], following[last] = first, last
        before, after = frames - frames[previous], frames[following] - frames
        start, end = first[looped], last[looped]
        previous[start], following[end] = end - 1, start + 1
        before[start], after[end] = before[end], after[start]
        return cls(
            frames=frames,
            parameters=np.concatenate([keys_of_track.parameters for keys_of_track in keys], axis=1),
            values=np.concatenate([keys_of_track.values for keys_of_track in keys]),
            first=first,
            last=last,
            previous=previous,
            following=following,
            before=before,
            after=after,
            looped=looped,
        )

    @property
    def open_ends(self) -> tuple[IndexArray, IndexArray]:
        """Return the first and last keys of the tracks that have ends. Single keys and loops have no ends."""
        has_ends = (self.last > self.first) & ~self.looped
        return self.first[has_ends], self.last[has_ends]

    @property
    def inner(self) -> BoolArray:
        """Return a mask (K,) of the keys with segments on both sides, which include the ends of a loop."""
        return (self.before > 0.0) & (self.after > 0.0)

    @property
    def segment_end(self) -> IndexArray:
        """Return the end key of the segment that begins at each key. For a track's last key, this is the key itself."""
        end = np.arange(1, len(self.frames) + 1)
        end[self.last] = self.last
        return end

    @property
    def lengths(self) -> Float64Array:
        """Return the length of the segment that begins at each key, which is 0 at the last key of a track."""
        return self.frames[self.segment_end] - self.frames

    @property
    def segments_beside(self) -> tuple[IndexArray, IndexArray]:
        """Return the segments before and after each key, including across the seam of a loop.

        At the ends of a track that is not a loop, the index of the missing segment is arbitrary.
        """
        return self.previous, np.maximum(self.following - 1, 0)

    @property
    def columns(self) -> Float64Array:
        """Return the values with the component axis first, shape (d, K)."""
        return np.ascontiguousarray(self.values.T)

    def chords(self, values: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the differences in values (d, K) from the previous key to each key, and from each key to the next."""
        return values - values.take(self.previous, axis=1), values.take(self.following, axis=1) - values

    def segment_chords(self, values: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the differences in values (d, K) over the segments before and after each key.

        In a loop whose first and last values differ, the segments beside the seam keep their own differences. At open
        ends, the difference on the side without a key is arbitrary.
        """
        segment_before, segment_after = self.segments_beside
        chords = values.take(self.segment_end, axis=1) - values
        return chords.take(segment_before, axis=1), chords.take(segment_after, axis=1)

    def slopes(self, before: Float64Array, after: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return chords (d, K) before and after each key per frame, or 0 on a side without a key."""
        return (
            np.divide(before, self.before, out=np.zeros_like(before), where=self.before > 0.0),
            np.divide(after, self.after, out=np.zeros_like(after), where=self.after > 0.0),
        )

    @property
    def share_before(self) -> Float64Array:
        """Return the part of the frames from the previous key to the next key that is before each key, shape (K,)."""
        both = self.before + self.after
        return np.divide(self.before, both, out=np.zeros_like(both), where=both > 0.0)

    def take(self, keys: BoolArray) -> KeyBatch:
        """Return a subset of the tracks, selected by their keys."""
        new_index, tracks = np.cumsum(keys) - 1, keys[self.first]
        return KeyBatch(
            frames=self.frames[keys],
            parameters=self.parameters.compress(keys, axis=1),
            values=self.values[keys],
            first=new_index[self.first[tracks]],
            last=new_index[self.last[tracks]],
            previous=new_index[self.previous[keys]],
            following=new_index[self.following[keys]],
            before=self.before[keys],
            after=self.after[keys],
            looped=self.looped[tracks],
        )
