# SPDX-License-Identifier: GPL-3.0-or-later
"""Records: dataclasses that do not change after creation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(*, eq: bool = True) -> Callable[[type[_Class]], type[_Class]]:
    """Turn a class into a dataclass that is frozen for type checkers. With `eq`, records are hashed by their fields.

    A bake creates ten thousand records, and a dataclass frozen at run time takes five times as long to create. Classes
    that scripts fill in are frozen at run time instead, because their fields are checked only once.
    """
    return dataclass(eq=eq, unsafe_hash=eq)
