# SPDX-License-Identifier: GPL-3.0-or-later
"""Identities of keys, stored in the low bits of the keys' `back`, `amplitude` and `period`.

Blender copies these three floats with each key, and only Back and Elastic keys use them. An identity has 32 bits, which
are stored in the low halves of `amplitude` and `period`. The low half of `back` contains a 16-bit code that identifies
the key within its track. Floats that a key uses can therefore stay unchanged. A Back key is identified by `amplitude`
and `period`, and an Elastic key by `back`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ...fcurves.keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    INTERPOLATION,
    EnumArray,
    Float32Array,
    Keyframes,
)

Identities = npt.NDArray[np.uint32]

NONE = 0
"""Placeholder for keys without an identity."""
_LOW = np.uint32(0xFFFF)
_HIGH = np.uint32(0xFFFF0000)


def _bits(floats: Float32Array) -> npt.NDArray[np.uint32]:
    return np.ascontiguousarray(floats, dtype=np.float32).view(np.uint32)


def spelled(amplitude: Float32Array, period: Float32Array) -> Identities:
    """Read the identities from amplitudes and periods, even if there are no matching rows."""
    result: Identities = (_bits(amplitude) << np.uint32(16)) | (_bits(period) & _LOW)
    return result


def codes(identities: Identities) -> npt.NDArray[np.uint32]:
    """Compute the codes for `back` from the identities."""
    # Knuth's multiplicative hash gives consecutive identities distant codes.
    mixed: npt.NDArray[np.uint32] = (identities * np.uint32(2654435761)) >> np.uint32(16)
    return mixed


def spells_code(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return a mask of the codes that an identity may have, that is, neither 0 nor the code of Blender's default."""
    may: npt.NDArray[np.bool_] = (codes != 0) & (codes != _DEFAULT_CODE)
    return may


def codes_of(back: Float32Array) -> npt.NDArray[np.uint32]:
    """Read the codes in `back`."""
    return _bits(back) & _LOW


_DEFAULT = spelled(np.array([DEFAULT_AMPLITUDE], np.float32), np.array([DEFAULT_PERIOD], np.float32))[0]
_DEFAULT_CODE = codes_of(np.array([DEFAULT_BACK], np.float32))[0]


def may_name(identities: Identities) -> npt.NDArray[np.bool_]:
    """Return a mask of the valid identities.

    An identity is invalid if writing it would not change the low half of an ordinary key's `amplitude`.
    """
    return _are_given(identities >> np.uint32(16))


def _are_given(halves: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return a mask of the low halves of `amplitude` that do not occur in ordinary keys.

    Blender sets 0.8 on keys that an animator inserts, and 0 on keys added by scripts and importers.
    """
    given: npt.NDArray[np.bool_] = (halves != 0) & (halves != _DEFAULT >> np.uint32(16))
    return given


def is_free(identities: Identities) -> npt.NDArray[np.bool_]:
    """Return a mask of the assignable identities, which change the low halves of ordinary `amplitude` and `back`."""
    free: npt.NDArray[np.bool_] = may_name(identities) & spells_code(codes(identities))
    return free


def are_plain(amplitude: Float32Array) -> bool:
    """Return whether no amplitude has an assigned identity.

    The bits are compared, because some amplitudes are denormal numbers.
    """
    return not bool(np.count_nonzero(_are_given(_bits(amplitude) & _LOW)))


def carry_identities(keys: Keyframes) -> npt.NDArray[np.bool_]:
    """Return a mask of the keys with an identity, that is, with a `back` that matches the other two floats."""
    spelt = spelled(keys.amplitude, keys.period)
    named: npt.NDArray[np.bool_] = is_free(spelt) & (codes_of(keys.back) == codes(spelt))
    return named


def with_identities(keys: Keyframes, identities: Identities, interpolation: EnumArray | None = None) -> Keyframes:
    """Write nonzero identities into the floats that the keys do not use.

    `interpolation` contains the interpolations that the keys will have. Default: the current interpolations.
    """
    plays = keys.interpolation if interpolation is None else interpolation
    given = identities != NONE
    shared = given & (plays != INTERPOLATION["ELASTIC"])
    own = given & (plays != INTERPOLATION["BACK"])
    return keys.with_(
        amplitude=np.where(shared, _spell(keys.amplitude, identities >> np.uint32(16)), keys.amplitude),
        period=np.where(shared, _spell(keys.period, identities & _LOW), keys.period),
        back=np.where(own, _spell(keys.back, codes(identities)), keys.back),
    )


def _spell(floats: Float32Array, low: npt.NDArray[np.uint32]) -> Float32Array:
    spelt: Float32Array = ((_bits(floats) & _HIGH) | low).view(np.float32)
    return spelt


def without_identities(now: Float32Array, recorded: Float32Array) -> Float32Array:
    """Restore the recorded low bits of floats, except where the upper bits have been edited since."""
    same = (_bits(now) & _HIGH) == (_bits(recorded) & _HIGH)
    result: Float32Array = np.where(same, recorded, now)
    return result


def derive(words: npt.NDArray[np.uint32], serials: npt.NDArray[np.uint32]) -> Identities:
    """Return identities as hashes of rows of words, shape (n, k), and of serials, shape (n,).

    The hash is multilinear: the sum of the words multiplied by odd 64-bit multipliers, modulo 2^64. Rows that differ in
    one word never have the same sum. For other rows, the probability of equal sums is at most 2^-32, as with random
    multipliers, or 2^-63 if the words also differ in their lowest bits. The bits of the sums are mixed, so any 32 bits
    collide only as often as random numbers, even for similar rows. If two rows have the same identity, `rows.identify`
    compares them, and hashes one of them with another serial.
    """
    factors = multipliers(words.shape[1] + 1)
    sums = serials.astype(np.uint64) * factors[-1]
    for start in range(0, len(words), _BLOCK):
        sums[start : start + _BLOCK] += words[start : start + _BLOCK].astype(np.uint64) @ factors[:-1]
    return (_mixed(sums) >> np.uint64(32)).astype(np.uint32)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 4096
"""Number of rows to multiply together, whose 64-bit words fit into the processor's cache."""


@cache
def multipliers(count: int) -> npt.NDArray[np.uint64]:
    """Return pseudorandom odd numbers.

    The sum of words multiplied by these numbers changes if any single word changes.
    """
    return _mixed(np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN) | np.uint64(1)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Mix the bits of numbers by a bijection, the last step of SplitMix64 (variant 13 by Stafford)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = numbers ^ (numbers >> np.uint64(31))
    return mixed
