# SPDX-License-Identifier: GPL-3.0-or-later
"""All interpolation methods by name. A new method needs a module with a METHOD and two lines here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..base_spline import Method

    METHODS: dict[str, Method]


def __getattr__(name: str) -> Any:
    """Return `METHODS`. Methods are imported when they are needed, so that importing the package stays fast."""
    if name != "METHODS":
        raise AttributeError(name)
    from . import (
        b_spline,
        catmull_rom,
        cubic,
        hermite,
        lagrange,
        linear,
        logarithmic,
        quaternion_cubic,
        roll_pitch_yaw,
        shoemake,
        tcb,
    )

    methods: dict[str, Method] = {
        method.name: method
        for method in (
            tcb.METHOD,
            linear.METHOD,
            catmull_rom.METHOD,
            hermite.METHOD,
            quaternion_cubic.METHOD,
            logarithmic.METHOD,
            shoemake.METHOD,
            shoemake.BLEND_METHOD,
            roll_pitch_yaw.METHOD,
            cubic.CLAMPED,
            cubic.NATURAL,
            lagrange.METHOD,
            b_spline.METHOD,
            b_spline.THROUGH,
        )
    }
    globals()[name] = methods
    return methods
