# SPDX-License-Identifier: GPL-3.0-or-later
"""Import functions for arrays of rotations from `interp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "formats":
    # In a checkout on the module path, `formats` and `interp` are top-level packages.
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
