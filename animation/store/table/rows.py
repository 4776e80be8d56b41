# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows: key data that are stored in the table instead of the key.

A row is written once and never changes. If the parameters of a key are set, the key gets a new row with a new identity.
Copied and pasted keys, and keys restored by undo, therefore keep their meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ....interp.keys import PARAMETERS as PARAMETERS
from ...fcurves.keyframes import Keyframes
from .key_identity import Identities

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
Columns = dict[str, npt.NDArray[Any]]
"""The fields of records by name."""
Rows = npt.NDArray[np.void]
"""Records of dtype ROW. The rows of a table are sorted by identity."""

NO_ROWS = np.empty(0, dtype=ROW)


def joined(parts: Iterable[npt.NDArray[np.void]], dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Concatenate arrays of records. NumPy would compare their types field by field."""
    return np.frombuffer(bytearray().join(part.tobytes() for part in parts), dtype)


def columns(records: npt.NDArray[np.void]) -> Columns:
    """Return the fields of records as contiguous arrays. NumPy is thirty times slower with pairs inside records."""
    return {name: np.ascontiguousarray(records[name]) for name in records.dtype.names or ()}


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


def numbers_in(rows: Rows) -> npt.NDArray[np.float32]:
    """Return the parameters and velocities in rows, shape (n, NUMBERS), with NaN if unset."""
    bits = np.unpackbits(rows["given"].astype(np.uint8)[:, np.newaxis], axis=1, bitorder="little")
    numbers: npt.NDArray[np.float32] = np.where(bits.view(np.bool_), rows["numbers"], np.float32(np.nan))
    return numbers


def floats_in(rows: Rows) -> npt.NDArray[np.float32]:
    """Return all floats of rows, shape (n, k): the numbers, three pairs, and three other floats at the end of a row."""
    words: npt.NDArray[np.float32] = rows.view(np.float32).reshape(len(rows), -1)
    return words[:, -(NUMBERS + 9) :]


def give(rows: Rows, name: str, values: npt.NDArray[np.float64], at: npt.NDArray[np.intp]) -> None:
    """Set a parameter in the rows with the indices `at`, one value per row. NaN unsets the parameter."""
    column = column_of(name)
    is_unset = np.isnan(values)
    bit, given = np.uint32(1 << column), rows["given"][at]
    rows["numbers"][at, column] = np.where(is_unset, 0.0, values)
    rows["given"][at] = np.where(is_unset, given & ~bit, given | bit)


def find(among: Identities, identities: Identities) -> npt.NDArray[np.intp]:
    """Return the index of each identity in the ascending array `among`, or -1."""
    at = np.full(len(identities), -1, dtype=np.intp)
    if not len(among):
        return at
    # Most keys are generated, so they have no identity.
    named = np.flatnonzero(identities)
    candidates = np.minimum(np.searchsorted(among, identities[named]), len(among) - 1)
    at[named] = np.where(among[candidates] == identities[named], candidates, -1)
    return at


def merge(rows: Rows, more: Rows) -> Rows:
    """Merge two arrays of rows by identity, without duplicates. `rows` must be sorted, and takes precedence."""
    new_rows = more[find(rows["identity"], more["identity"]) < 0] if len(rows) else more
    if not len(new_rows):
        return rows
    merged = np.concatenate((rows, new_rows)) if len(rows) else new_rows
    order = np.argsort(merged["identity"], kind="stable")
    identities = merged["identity"][order]
    is_first = np.append(True, identities[1:] != identities[:-1])
    result: Rows = merged[order[is_first]]
    return result
