# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a track, checked, and the concatenated keys of several tracks, as required to compute their segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .messages import Text, n_

Float64Array = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

PARAMETERS = ("tension", "continuity", "bias", "ease_to", "ease_from")
"""The names of the parameters, in the order of the rows of `Keys.parameters`."""
WORDS = {
    "tension": n_("tension"),
    "continuity": n_("continuity"),
    "bias": n_("bias"),
    "ease_to": n_("ease to"),
    "ease_from": n_("ease from"),
}
"""The names of the parameters, as used in messages."""
LOWEST = np.array([-1.0, -1.0, -1.0, 0.0, 0.0])[:, np.newaxis]
"""The smallest value of each parameter, shape (5, 1)."""
HIGHEST = 1.0
"""The largest value of all parameters."""
FARTHEST = 1e100
"""The largest allowed magnitude of frames. The largest float64 is 1.8e308, and some methods use the cubes of segment
lengths and of their inverses."""
_LARGEST_VALUE = 1e301
"""The largest allowed value, and the largest value over a squared length. Methods use up to 1e7 times this number."""
_SHORTEST = 1e-16
"""The shortest segment relative to the track's length. Methods raise such ratios to the 16th power."""


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Keys:
    """The keys of a track.

    Parameters
    ----------
    frames : array_like, shape (n,)
        Frames of at least one key, finite and strictly increasing. Frames can be fractional.
    values : array_like, shape (n, d) or (n,)
        Finite values of the keys. A one-dimensional array has one component.
    tension, continuity, bias : float or array_like, shape (n,)
        One number for all keys or one per key, in [-1, 1].
    ease_to, ease_from : float or array_like, shape (n,)
        The ease into and out of the key, in [0, 1].

    Attributes
    ----------
    parameters : ndarray, shape (5, n)
        Rows of tension, continuity, bias, ease to and ease from. The attributes with these names are views of the rows.

    Raises
    ------
    KeysError
        If an argument is invalid. The message names the first invalid key and its frame.

    Notes
    -----
    All arrays are read-only float64 copies. The ranges of the parameters match .3ds files.

    Examples
    --------
    >>> keys = Keys([0, 10, 30], [[0, 0], [1, 2], [0, 4]], tension=[0, 0.5, 0], ease_to=1)
    >>> keys.values.shape, keys.tension, keys.ease_to
    ((3, 2), array([0. , 0.5, 0. ]), array([1., 1., 1.]))
    """

    frames: Float64Array
    values: Float64Array
    parameters: Float64Array

    def __init__(
        self,
        frames: npt.ArrayLike,
        values: npt.ArrayLike,
        tension: npt.ArrayLike = 0.0,
        continuity: npt.ArrayLike = 0.0,
        bias: npt.ArrayLike = 0.0,
        ease_to: npt.ArrayLike = 0.0,
        ease_from: npt.ArrayLike = 0.0,
    ) -> None:
        checked_frames = _checked_frames(frames)
        checked_values = _checked_values(values, checked_frames)
        _check_spacing(checked_frames, checked_values)
        parameters = _checked_parameters((tension, continuity, bias, ease_to, ease_from), checked_frames)
        self._set(checked_frames, checked_values, parameters)

    def _set(self, frames: Float64Array, values: Float64Array, parameters: Float64Array) -> None:
        for name, array in (("frames", frames), ("values", values), ("parameters", parameters)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def tension(self) -> Float64Array:
        return self.parameters[0, :]

    @property
    def continuity(self) -> Float64Array:
        return self.parameters[1, :]

    @property
    def bias(self) -> Float64Array:
        return self.parameters[2, :]

    @property
    def ease_to(self) -> Float64Array:
        return self.parameters[3, :]

    @property
    def ease_from(self) -> Float64Array:
        return self.parameters[4, :]

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self.frames)

    def error(self, message: str, key: int, component: int | None = None) -> KeysError:
        """Return the error for a key."""
        return KeysError(message, key, float(self.frames[key]), component=component)

    @classmethod
    def _of(cls, frames: Float64Array, values: Float64Array, parameters: Float64Array) -> Keys:
        """Return keys of valid arrays, which become read-only."""
        keys = object.__new__(cls)
        keys._set(frames, values, parameters)
        return keys

    def __reduce__(self) -> tuple[object, tuple[Float64Array, Float64Array, Float64Array]]:
        """Copy and pickle keys as three arrays, which become read-only again."""
        return Keys._of, (self.frames, self.values, self.parameters)

    def with_values(self, values: Float64Array, parameters: Float64Array | None = None) -> Keys:
        """Return the same keys with other values, which must be finite float64 of shape (n, d), and are not checked.

        If `parameters` is None, the parameters are kept. Otherwise, see `with_parameters`.
        """
        return Keys._of(self.frames, values, self.parameters if parameters is None else parameters)

    def with_parameters(self, parameters: Float64Array) -> Keys:
        """Return the same keys with other parameters (5, n), which must be in range and are not checked."""
        return Keys._of(self.frames, self.values, parameters)


class KeysError(ValueError):
    """An error in the keys of a track.

    Attributes
    ----------
    message : str
        The English text of the error as a translatable `Text`, without the track and the key.
    key : int or None
        Index of the first invalid key, counted from 0. None if the error does not concern a single key.
    frame : float or None
        The frame of that key.
    component : int or None
        Index of the invalid component, which is the first value in `message`. See `on_component`.

    Examples
    --------
    >>> Keys([0, 10, 10], [0, 1, 2])
    Traceback (most recent call last):
    KeysError: key 2 at frame 10: has the same frame as the previous key. Frames must be strictly increasing
    """

    def __init__(
        self,
        message: str,
        key: int | None = None,
        frame: float | None = None,
        component: int | None = None,
    ) -> None:
        super().__init__(message, key, frame, component)
        self.message = message
        self.key = key
        self.frame = frame
        self.component = component

    def __str__(self) -> str:
        """Return the key and the message."""
        if self.key is None:
            return self.message
        return f"key {self.key}{'' if self.frame is None else f' at frame {self.frame:g}'}: {self.message}"

    def on_component(self, component: int) -> KeysError:
        """Return the same error for another component, if the keys contain only some components of a track."""
        assert isinstance(self.message, Text)
        message = Text(self.message.text, component, *self.message.values[1:])
        return type(self)(message, self.key, self.frame, component)


class KeysTypeError(KeysError, TypeError):
    """A `KeysError` and TypeError, for arguments that are not arrays of real numbers with one row per key."""


def _checked_frames(data: npt.ArrayLike) -> Float64Array:
    """Return frames as float64, or raise KeysError."""
    frames = _numbers(data, n_("frames are not an array of numbers: {!s}"))
    if frames.ndim != 1:
        raise KeysError(n_("frames must have one dimension, not {:d}", frames.ndim))
    if not frames.size:
        raise KeysError(n_("a track needs at least one key"))
    is_rising = frames[1:] > frames[:-1]
    # Frames between two finite frames in ascending order are finite too.
    if is_rising.all() and abs(frames[0]) <= FARTHEST and abs(frames[-1]) <= FARTHEST:
        return frames
    is_near = np.abs(frames) <= FARTHEST
    if not is_near.all():
        key = int(np.argmin(is_near))
        message = n_("the frame is not a finite number")
        if np.isfinite(frames[key]):
            message = n_("the magnitude of the frame is above {:g}", FARTHEST)
        raise KeysError(message, key, float(frames[key]))
    key = int(np.argmin(is_rising)) + 1
    previous_frame, frame = float(frames[key - 1]), float(frames[key])
    if frame == previous_frame:
        message = n_("has the same frame as the previous key. Frames must be strictly increasing")
    else:
        message = n_("follows frame {:g}. Frames must be strictly increasing", previous_frame)
    raise KeysError(message, key, frame)


def _checked_values(data: npt.ArrayLike, frames: Float64Array) -> Float64Array:
    """Return values (n, d) as float64, or raise KeysError."""
    values = _numbers(data, n_("values are not an array of numbers: {!s}"))
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2 or len(values) != len(frames) or not values.shape[1]:
        message = n_("values must have one row per key: {:d} frames, values of shape {!s}", len(frames), np.shape(data))
        raise KeysError(message)
    is_valid = np.abs(values) <= _LARGEST_VALUE
    if is_valid.all():
        return values
    key, component = (int(index) for index in np.argwhere(~is_valid)[0])
    value = values[key, component]
    message = n_("component {:d} of the value is {!s}, not a finite number", component, value)
    if np.isfinite(value):
        message = n_(
            "component {:d} of the value is {:g}, with a magnitude above {:g}", component, value, _LARGEST_VALUE
        )
    raise KeysError(message, key, float(frames[key]), component=component)


def _check_spacing(frames: Float64Array, values: Float64Array) -> None:
    """Raise KeysError if keys are so close together that derivatives between them exceed the range of float64."""
    if len(frames) == 1:
        return
    lengths = frames[1:] - frames[:-1]
    magnitudes = np.abs(values).max(axis=1)
    larger_magnitudes = np.maximum(magnitudes[1:], magnitudes[:-1])
    shortest_of_track = max(1.0 / FARTHEST, _SHORTEST * (frames[-1] - frames[0]))
    is_too_short = lengths < np.maximum(np.sqrt(larger_magnitudes / _LARGEST_VALUE), shortest_of_track)
    if is_too_short.any():
        key = int(np.argmax(is_too_short)) + 1
        message = n_(
            "is so close to the previous key that the rate of change exceeds the range of floating-point numbers"
        )
        raise KeysError(message, key, float(frames[key]))


def _checked_parameters(data: tuple[npt.ArrayLike, ...], frames: Float64Array) -> Float64Array:
    """Return the parameters (5, n), or raise KeysError."""
    parameters = np.empty((len(PARAMETERS), len(frames)))
    for row, (name, given) in enumerate(zip(PARAMETERS, data, strict=True)):
        try:
            parameters[row] = as_array(given)
        except (TypeError, ValueError) as error:
            message = n_("{:s} must be one number, or one for each of {:d} keys", WORDS[name], len(frames))
            raise (KeysTypeError if isinstance(error, TypeError) else KeysError)(message) from error
    is_in_range = (parameters >= LOWEST) & (parameters <= HIGHEST)
    if not is_in_range.all():
        row, key = (int(index) for index in np.argwhere(~is_in_range)[0])
        lowest = int(LOWEST[row, 0])
        message = n_("{:s} is {:g}, not in [{:d}, 1]", WORDS[PARAMETERS[row]], parameters[row, key], lowest)
        raise KeysError(message, key, float(frames[key]))
    return parameters


def _numbers(data: npt.ArrayLike, message: str) -> Float64Array:
    """Return a float64 copy, or raise KeysError."""
    try:
        return as_array(data).copy()
    except TypeError as error:
        raise KeysTypeError(Text(message, error)) from error


def as_array(data: npt.ArrayLike) -> Float64Array:
    """Return real numbers as float64, or raise TypeError with their type."""
    if type(data) is np.ndarray and data.dtype == np.float64:
        return data
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("a masked array")
    try:
        array = np.asarray(data)
    except (TypeError, ValueError) as error:
        raise TypeError(str(error)) from error
    if array.dtype.kind not in "biuf":
        raise TypeError(str(array.dtype))
    return array.astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class KeyBatch:
    """The K concatenated keys of several tracks, with the neighbors of each key.

    Segment ``k`` runs from key ``k`` to the next. The last key of a track begins a zero-length segment that holds its
    value.

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
