# SPDX-License-Identifier: GPL-3.0-or-later
"""Import names, ranges and arrays of keys from `interp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "formats":
    # In a checkout on the module path, `formats` and `interp` are top-level packages.
    from interp.batch import Cycle
    from interp.keys import HIGHEST, LOWEST, PARAMETERS, WORDS, Float32Array, Float64Array
else:
    from ..interp.batch import Cycle
    from ..interp.keys import HIGHEST, LOWEST, PARAMETERS, WORDS, Float32Array, Float64Array

__all__ = ["HIGHEST", "LOWEST", "PARAMETERS", "WORDS", "Cycle", "Float32Array", "Float64Array"]
