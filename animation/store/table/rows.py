# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows: key data that are stored in the table instead of the key.

A row is written once and never changes. If the parameters of a key are set, the key gets a new row with a new identity.
Copied and pasted keys, and keys restored by undo, therefore keep their meaning.
"""

from __future__ import annotations

import zlib
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ....interp.keys import PARAMETERS as PARAMETERS
from ...fcurves.keyframes import Keyframes
from . import key_identity
from .key_identity import Identities
from .record_arrays import Fields, first_of_each

VELOCITY = "velocity"
"""Velocities have one number per component. For rotations, the numbers are the components x, y and z of the angular
velocity."""
_COMPONENTS = 3
"""Number of velocity components per row. A value channel uses one component. Each channel of a rotation uses all
three."""

NUMBERS = len(PARAMETERS) + _COMPONENTS

ROW = np.dtype(
    [
        ("identity", "<u4"),
        ("track", "<u4"),
        ("index", "<i4"),
        ("given", "<u4"),
        ("interpolation", "u1"),
        ("easing", "u1"),
        ("handle_left_type", "u1"),
        ("handle_right_type", "u1"),
        ("type", "u1"),
        ("chosen", "u1"),
        ("unused", "u1", (2,)),
        ("numbers", "<f4", (NUMBERS,)),
        ("co", "<f4", (2,)),
        ("handle_left", "<f4", (2,)),
        ("handle_right", "<f4", (2,)),
        ("back", "<f4"),
        ("amplitude", "<f4"),
        ("period", "<f4"),
    ]
)
"""`track` and `index` specify the channel for which the row was created. `given` contains one bit for each number that
was set. For numbers that were not set, the defaults apply. `chosen` contains flags, listed below, of changes that the
animator made after the key became TCB. The other fields describe the key without a bake, as Restore writes it."""
CHOSEN_INTERPOLATION, CHOSEN_LEFT, CHOSEN_RIGHT = 1, 2, 4
"""Flags for a segment that Blender plays instead of the spline, and for left and right handles to keep."""
CHOSEN_HANDLES = CHOSEN_LEFT | CHOSEN_RIGHT

RECORDED = (
    "interpolation",
    "easing",
    "handle_left_type",
    "handle_right_type",
    "type",
    "co",
    "handle_left",
    "handle_right",
    "back",
    "amplitude",
    "period",
)
Rows = npt.NDArray[np.void]
"""Records of dtype ROW. The rows of a table are sorted by identity."""

_WHOLE_ROW = np.dtype(("V", ROW.itemsize))
"""Type of a row for copying all fields together."""

NO_ROWS = np.empty(0, dtype=ROW)


def velocity_of(component: int) -> str:
    """Return the parameter name of a velocity component."""
    return f"{VELOCITY}[{component}]"


def column_of(name: str) -> int:
    """Return the column in `numbers` of a parameter or velocity component."""
    if name in PARAMETERS:
        return PARAMETERS.index(name)
    return len(PARAMETERS) + int(name.removeprefix(f"{VELOCITY}[").removesuffix("]"))


def record(keys: Keyframes, track: int, index: int) -> Rows:
    """Create rows that record a channel's keys, without identities and parameters."""
    rows = np.zeros(len(keys), dtype=ROW)
    for name in RECORDED:
        rows[name] = getattr(keys, name)
    rows["track"], rows["index"] = track, index
    return rows


def given_of(numbers: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
    """Return the `given` and `numbers` of rows for parameters and velocities, shape (n, NUMBERS), with NaN if unset."""
    is_unset = np.isnan(numbers)
    # Eight numbers fit into one byte of flags.
    return np.packbits(~is_unset, axis=1, bitorder="little")[:, 0], np.where(is_unset, np.float32(0.0), numbers)


def numbers_in(rows: Fields) -> npt.NDArray[np.float32]:
    """Return the parameters and velocities in rows, shape (n, NUMBERS), with NaN if unset."""
    bits = np.unpackbits(rows["given"].astype(np.uint8)[:, np.newaxis], axis=1, bitorder="little")
    numbers: npt.NDArray[np.float32] = np.where(bits.view(np.bool_), rows["numbers"], np.float32(np.nan))
    return numbers


def give(rows: Rows, name: str, values: npt.NDArray[np.float64], at: npt.NDArray[np.intp]) -> None:
    """Set a parameter in the rows with the indices `at`, one value per row. NaN unsets the parameter."""
    column = column_of(name)
    is_unset = np.isnan(values)
    bit, given = np.uint32(1 << column), rows["given"][at]
    rows["numbers"][at, column] = np.where(is_unset, 0.0, values)
    rows["given"][at] = np.where(is_unset, given & ~bit, given | bit)


def find(rows: Rows, identities: Identities) -> npt.NDArray[np.intp]:
    """Return the row of each identity, or -1. `rows` must be sorted by identity."""
    at = np.full(len(identities), -1, dtype=np.intp)
    if not len(rows):
        return at
    # Most keys are generated, so they have no identity.
    named = np.flatnonzero(identities)
    row_identities, named_identities = rows["identity"], identities[named]
    candidates = np.minimum(np.searchsorted(row_identities, named_identities), len(rows) - 1)
    at[named] = np.where(row_identities[candidates] == named_identities, candidates, -1)
    return at


def merge(rows: Rows, more: Rows) -> Rows:
    """Merge two arrays of rows by identity, without duplicates. `rows` must be sorted, and takes precedence."""
    new_rows = more[find(rows, more["identity"]) < 0] if len(rows) else more
    if not len(new_rows):
        return rows
    new_rows = new_rows.view(_WHOLE_ROW)[first_of_each(new_rows["identity"])[1]].view(ROW)
    if not len(rows):
        return new_rows
    is_new = np.zeros(len(rows) + len(new_rows), dtype=np.bool_)
    is_new[np.searchsorted(rows["identity"], new_rows["identity"]) + np.arange(len(new_rows))] = True
    merged = np.empty(len(is_new), dtype=ROW)
    whole_rows = merged.view(_WHOLE_ROW)
    whole_rows[is_new], whole_rows[~is_new] = new_rows.view(_WHOLE_ROW), rows.view(_WHOLE_ROW)
    return merged


class Known(Protocol):
    """Rows that can be found by identity."""

    def find(self, identities: Identities) -> npt.NDArray[np.intp]: ...
    def add_new(self, rows: Rows, places: npt.NDArray[np.intp]) -> None: ...
    def __getitem__(self, key: npt.NDArray[np.intp]) -> Rows: ...


def identify(rows: Rows, known: Known) -> None:
    """Give the rows new identities, derived from their contents and from the identities of their original rows.

    The result is not random: a row with the same content and origin as one of the `known` rows gets the same identity.
    All other rows are added to the known rows.
    """
    words, serials = _words(rows), np.zeros(len(rows), dtype=np.uint32)
    identities = _checksums(rows, serials)
    while True:
        # Rows may share an identity only if they are equal.
        is_valid = key_identity.are_assignable(identities)
        distinct_identities, first_rows = first_of_each(identities)
        # The search is faster for sorted identities.
        known_rows = known.find(distinct_identities)
        is_known = known_rows >= 0
        place = np.searchsorted(distinct_identities, identities)
        if len(distinct_identities) < len(rows):
            is_valid &= (words == words[first_rows[place]]).all(axis=1)
        if is_known.any():
            at = known_rows[place]
            with_known = np.flatnonzero(at >= 0)
            # The first word is the identity itself.
            known_words = _words(known[at[with_known]])
            is_valid[with_known] &= (words[with_known, 1:] == known_words[:, 1:]).all(axis=1)
        to_change = np.flatnonzero(~is_valid)
        if not len(to_change):
            break
        serials[to_change] += 1
        identities[to_change] = _checksums(rows[to_change], serials[to_change])
    rows["identity"] = identities
    known.add_new(rows, first_rows[~is_known])


def _checksums(rows: Rows, serials: npt.NDArray[np.uint32]) -> Identities:
    """Return checksums of rows and serials."""
    contents = rows.view(_WHOLE_ROW).tolist()
    return np.fromiter(map(zlib.crc32, contents, serials.tolist()), dtype=np.uint32, count=len(rows))


def _words(rows: Rows) -> npt.NDArray[np.uint32]:
    """Return the rows as 32-bit words, shape (n, words)."""
    return np.ascontiguousarray(rows).view(np.uint32).reshape(len(rows), ROW.itemsize // 4)
