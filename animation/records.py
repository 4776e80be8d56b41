# SPDX-License-Identifier: GPL-3.0-or-later
"""Records: dataclasses that nothing changes once they are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(*, eq: bool = True) -> Callable[[type[_Class]], type[_Class]]:
    """Make a class a dataclass that is frozen for type checkers, with a hash of its fields where these make it equal.

    A bake makes ten thousand records, and Python takes five times as long to make one that is frozen while it runs: so
    it is not for what scripts are given to fill in, which is checked once.
    """
    return dataclass(eq=eq, unsafe_hash=eq)
