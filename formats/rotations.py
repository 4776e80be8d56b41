# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations as arrays, from `interp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "formats":
    # A checkout on the path of modules, where `formats` and `interp` are packages by themselves.
    from interp.rotations import (
        Order,
        conjugate,
        follow_euler,
        from_axis_angle,
        from_euler,
        from_matrix,
        multiply,
        slerp,
        to_euler,
        to_matrix,
        unroll_signs,
    )
else:
    from ..interp.rotations import (
        Order,
        conjugate,
        follow_euler,
        from_axis_angle,
        from_euler,
        from_matrix,
        multiply,
        slerp,
        to_euler,
        to_matrix,
        unroll_signs,
    )

__all__ = [
    "Order",
    "conjugate",
    "follow_euler",
    "from_axis_angle",
    "from_euler",
    "from_matrix",
    "multiply",
    "slerp",
    "to_euler",
    "to_matrix",
    "unroll_signs",
]
