# SPDX-License-Identifier: GPL-3.0-or-later
"""Identities of keys, stored in the low bits of the keys' `back`, `amplitude` and `period`.

Blender copies these three floats with each key, and only Back and Elastic keys use them. An identity has 32 bits, which
are stored in the low halves of `amplitude` and `period`. The low half of `back` contains a 16-bit code that identifies
the key within its track. Floats that a key uses can therefore stay unchanged. A Back key is identified by `amplitude`
and `period`, and an Elastic key by `back`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...fcurves.keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    INTERPOLATION,
    BoolArray,
    EnumArray,
    Float32Array,
    Keyframes,
)

Identities = npt.NDArray[np.uint32]
Halves = npt.NDArray[np.uint32]
"""Low halves of floats."""

NONE = 0
"""Placeholder for keys without an identity."""
_LOW = np.uint32(0xFFFF)
_HIGH = np.uint32(0xFFFF0000)


def identities_in(amplitude: Float32Array, period: Float32Array) -> Identities:
    """Read the identities from amplitudes and periods, even if there are no matching rows."""
    identities: Identities = (_bits(amplitude) << np.uint32(16)) | _low_halves(period)
    return identities


def codes_in(back: Float32Array) -> Halves:
    """Read the codes in `back`."""
    return _low_halves(back)


def codes_for(identities: Identities) -> Halves:
    """Compute the codes for `back` from the identities."""
    # Knuth's multiplicative hash gives consecutive identities distant codes.
    codes: Halves = (identities * np.uint32(2654435761)) >> np.uint32(16)
    return codes


def _bits(floats: Float32Array) -> npt.NDArray[np.uint32]:
    return np.ascontiguousarray(floats, dtype=np.float32).view(np.uint32)


def _low_halves(floats: Float32Array) -> Halves:
    return _bits(floats) & _LOW


_DEFAULT_AMPLITUDE = _low_halves(np.array([DEFAULT_AMPLITUDE], np.float32))[0]
_DEFAULT_CODE = codes_in(np.array([DEFAULT_BACK], np.float32))[0]


def are_valid_codes(codes: Halves) -> BoolArray:
    """Return a mask of the codes that an identity may have, that is, neither 0 nor the code of Blender's default."""
    are_valid: BoolArray = (codes != 0) & (codes != _DEFAULT_CODE)
    return are_valid


def _are_valid_amplitudes(halves: Halves) -> BoolArray:
    """Return a mask of the low halves of `amplitude` that do not occur in ordinary keys.

    Blender sets 0.8 on keys that an animator inserts, and 0 on keys added by scripts and importers.
    """
    are_valid: BoolArray = (halves != 0) & (halves != _DEFAULT_AMPLITUDE)
    return are_valid


def are_assignable(identities: Identities) -> BoolArray:
    """Return a mask of the assignable identities, whose `amplitude` and `back` do not occur in ordinary keys."""
    return _are_valid_amplitudes(identities >> np.uint32(16)) & are_valid_codes(codes_for(identities))


def have_none(amplitude: Float32Array) -> bool:
    """Return whether no amplitude has an identity.

    The bits are compared, because some amplitudes are denormal numbers.
    """
    return not bool(np.count_nonzero(_are_valid_amplitudes(_low_halves(amplitude))))


def have_identities(keys: Keyframes) -> BoolArray:
    """Return a mask of the keys with an identity, that is, with a `back` that matches the other two floats."""
    identities = identities_in(keys.amplitude, keys.period)
    are_matching: BoolArray = are_assignable(identities) & (codes_in(keys.back) == codes_for(identities))
    return are_matching


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
        amplitude=np.where(in_amplitude, _with_low_halves(keys.amplitude, identities >> np.uint32(16)), keys.amplitude),
        period=np.where(in_amplitude, _with_low_halves(keys.period, identities & _LOW), keys.period),
        back=np.where(in_back, _with_low_halves(keys.back, codes_for(identities)), keys.back),
    )


def _with_low_halves(floats: Float32Array, halves: Halves) -> Float32Array:
    """Replace the low halves of the floats."""
    result: Float32Array = ((_bits(floats) & _HIGH) | halves).view(np.float32)
    return result


def without_identities(now: Float32Array, recorded: Float32Array) -> Float32Array:
    """Restore the recorded low bits of floats, except where the upper bits have been edited since."""
    is_unedited = (_bits(now) & _HIGH) == (_bits(recorded) & _HIGH)
    result: Float32Array = np.where(is_unedited, recorded, now)
    return result
