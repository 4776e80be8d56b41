# SPDX-License-Identifier: GPL-3.0-or-later
"""Equality of 3D Studio scenes, bit for bit."""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

import numpy as np


def same(first: Any, second: Any) -> bool:
    """Return whether two scenes, or parts of them, are equal bit for bit. Warnings are not compared."""
    if type(first) is not type(second):
        return False
    if dataclasses.is_dataclass(first):
        names = [field.name for field in dataclasses.fields(first) if field.name != "warnings"]
        return all(same(getattr(first, name), getattr(second, name)) for name in names)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, np.ndarray):
        return (first.dtype, first.shape, first.tobytes()) == (second.dtype, second.shape, second.tobytes())
    if isinstance(first, float):
        return struct.pack("d", first) == struct.pack("d", second)
    return bool(first == second)
