# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties of the objects in an FBX file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..interp import Float64Array
from ..motion import VALUE_LIMIT
from .binary import Record

Properties = Mapping[str, list[Any]]
NO_PROPERTIES: Properties = {}


def read_properties(record: Record) -> Properties:
    """Return the values of an object's properties, by name."""
    # A property is a record with name, type, label, flags and values.
    rows = (entry.values for entry in record.find("Properties70") or () if entry.name == "P")
    return {str(row[0], "utf-8", "replace"): row[4:] for row in rows if len(row) > 4 and isinstance(row[0], bytes)}


def read_template(root: Record, kind: str) -> Properties:
    """Return the default properties of objects of a kind, such as "Model"."""
    for record in root.find("Definitions") or ():
        if record.name == "ObjectType" and record.values[:1] == [kind.encode()]:
            template = record.find("PropertyTemplate")
            return read_properties(template) if template else NO_PROPERTIES
    return NO_PROPERTIES


def number(properties: Properties, name: str, default: float) -> float:
    """Return a number, or the default if it is missing or damaged."""
    value = properties.get(name, [default])[0]
    return float(value) if _is_number(value) else default


def vector(properties: Properties, name: str, default: float = 0.0) -> Float64Array:
    """Return three numbers, shape (3,), each the default if any of them is missing or damaged."""
    values = properties.get(name, [])[:3]
    is_valid = len(values) == 3 and all(map(_is_number, values))
    return np.array(values if is_valid else [default] * 3, dtype=np.float64)


def integer(properties: Properties, name: str, default: int) -> int:
    """Return an integer, or the default if it is missing or of another type."""
    value = properties.get(name, [default])[0]
    return value if isinstance(value, int) else default


def choice(properties: Properties, name: str, count: int, unknown: int, missing: int = 0) -> int:
    """Return the number of an enumeration's item, from 0 to `count` - 1, or the number for unknown or missing items."""
    item = integer(properties, name, unknown) if name in properties else missing
    return item if 0 <= item < count else unknown


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < VALUE_LIMIT
