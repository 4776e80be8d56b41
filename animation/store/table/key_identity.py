# SPDX-License-Identifier: GPL-3.0-or-later
"""Identities of keys, stored in the low bits of the keys' `back`, `amplitude` and `period`.

Blender copies these three floats with each key, and only Back and Elastic keys use them. An identity has 32 bits, which
are stored in the low halves of `amplitude` and `period`. The low half of `back` contains a 16-bit code that identifies
the key within its track. Floats that a key uses can therefore stay unchanged. A Back key is identified by `amplitude`
and `period`, and an Elastic key by `back`.
"""

from __future__ import annotations

import zlib

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
    identities: Identities = (_bits(amplitude) << np.uint32(16)) | (_bits(period) & _LOW)
    return identities


def codes(identities: Identities) -> npt.NDArray[np.uint32]:
    """Compute the codes for `back` from the identities."""
    # Knuth's multiplicative hash gives consecutive identities distant codes.
    hashes: npt.NDArray[np.uint32] = (identities * np.uint32(2654435761)) >> np.uint32(16)
    return hashes


def spells_code(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return a mask of the codes that an identity may have, that is, neither 0 nor the code of Blender's default."""
    spell_codes: npt.NDArray[np.bool_] = (codes != 0) & (codes != _DEFAULT_CODE)
    return spell_codes


def codes_of(back: Float32Array) -> npt.NDArray[np.uint32]:
    """Read the codes in `back`."""
    return _bits(back) & _LOW


_DEFAULT = spelled(np.array([DEFAULT_AMPLITUDE], np.float32), np.array([DEFAULT_PERIOD], np.float32))[0]
_DEFAULT_CODE = codes_of(np.array([DEFAULT_BACK], np.float32))[0]


def may_name(identities: Identities) -> npt.NDArray[np.bool_]:
    """Return a mask of the valid identities.

    An identity is invalid if writing it would not change the low half of an ordinary key's `amplitude`.
    """
    return _are_assigned(identities >> np.uint32(16))


def _are_assigned(halves: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return a mask of the low halves of `amplitude` that do not occur in ordinary keys.

    Blender sets 0.8 on keys that an animator inserts, and 0 on keys added by scripts and importers.
    """
    are_assigned: npt.NDArray[np.bool_] = (halves != 0) & (halves != _DEFAULT >> np.uint32(16))
    return are_assigned


def is_free(identities: Identities) -> npt.NDArray[np.bool_]:
    """Return a mask of the assignable identities, which change the low halves of ordinary `amplitude` and `back`."""
    are_free: npt.NDArray[np.bool_] = may_name(identities) & spells_code(codes(identities))
    return are_free


def are_plain(amplitude: Float32Array) -> bool:
    """Return whether no amplitude has an assigned identity.

    The bits are compared, because some amplitudes are denormal numbers.
    """
    return not bool(np.count_nonzero(_are_assigned(_bits(amplitude) & _LOW)))


def carry_identities(keys: Keyframes) -> npt.NDArray[np.bool_]:
    """Return a mask of the keys with an identity, that is, with a `back` that matches the other two floats."""
    identities = spelled(keys.amplitude, keys.period)
    have_identities: npt.NDArray[np.bool_] = is_free(identities) & (codes_of(keys.back) == codes(identities))
    return have_identities


def with_identities(keys: Keyframes, identities: Identities, interpolation: EnumArray | None = None) -> Keyframes:
    """Write nonzero identities into the floats that the keys do not use.

    `interpolation` contains the interpolations that the keys will have. Default: the current interpolations.
    """
    if interpolation is None:
        interpolation = keys.interpolation
    has_identity = identities != NONE
    in_amplitude = has_identity & (interpolation != INTERPOLATION["ELASTIC"])
    in_back = has_identity & (interpolation != INTERPOLATION["BACK"])
    return keys.with_(
        amplitude=np.where(in_amplitude, _spell(keys.amplitude, identities >> np.uint32(16)), keys.amplitude),
        period=np.where(in_amplitude, _spell(keys.period, identities & _LOW), keys.period),
        back=np.where(in_back, _spell(keys.back, codes(identities)), keys.back),
    )


def _spell(floats: Float32Array, halves: npt.NDArray[np.uint32]) -> Float32Array:
    """Replace the low halves of the floats."""
    result: Float32Array = ((_bits(floats) & _HIGH) | halves).view(np.float32)
    return result


def without_identities(now: Float32Array, recorded: Float32Array) -> Float32Array:
    """Restore the recorded low bits of floats, except where the upper bits have been edited since."""
    is_unedited = (_bits(now) & _HIGH) == (_bits(recorded) & _HIGH)
    result: Float32Array = np.where(is_unedited, recorded, now)
    return result


def derive(rows: npt.NDArray[np.void], serials: npt.NDArray[np.uint32]) -> Identities:
    """Return identities as checksums of rows and serials. `rows.identify` compares rows with equal identities."""
    contents = rows.view(("V", rows.dtype.itemsize)).tolist()
    return np.fromiter(map(zlib.crc32, contents, serials.tolist()), dtype=np.uint32, count=len(rows))
