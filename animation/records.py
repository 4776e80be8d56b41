# SPDX-License-Identifier: GPL-3.0-or-later
"""Records: dataclasses that do not change after creation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(*, eq: bool = True) -> Callable[[type[_Class]], type[_Class]]:
    """Turn a class into a dataclass that is frozen for type checkers.

    If `eq` is true, records are compared and hashed by field.

    A bake creates ten thousand records, and creating a dataclass that is frozen at run time takes five times as long.
    Classes that scripts fill in are frozen at run time, because their fields are checked only once.
    """
    return dataclass(eq=eq, unsafe_hash=eq)
