# SPDX-License-Identifier: GPL-3.0-or-later
"""Import the names of `interp` that this package uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "formats":
    # In a checkout on the module path, `formats` and `interp` are top-level packages.
    from interp import rotations
    from interp.base_spline import Cycle
    from interp.cubics import hermite_powers, solve_cubics
    from interp.keys import HIGHEST, LOWEST, PARAMETERS, WORDS, Float32Array, Float64Array
    from interp.messages import Text, n_
else:
    from ..interp import rotations
    from ..interp.base_spline import Cycle
    from ..interp.cubics import hermite_powers, solve_cubics
    from ..interp.keys import HIGHEST, LOWEST, PARAMETERS, WORDS, Float32Array, Float64Array
    from ..interp.messages import Text, n_

__all__ = [
    "HIGHEST",
    "LOWEST",
    "PARAMETERS",
    "WORDS",
    "Cycle",
    "Float32Array",
    "Float64Array",
    "Text",
    "hermite_powers",
    "n_",
    "rotations",
    "solve_cubics",
]
