# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, ranges and arrays of keys, from `interp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "formats":
    # A checkout on the path of modules, where `formats` and `interp` are packages by themselves.
    from interp.batch import Cycle
    from interp.keys import HIGHEST, LOWEST, PARAMETERS, WORDS, Float32Array, Float64Array
else:
    from ..interp.batch import Cycle
    from ..interp.keys import HIGHEST, LOWEST, PARAMETERS, WORDS, Float32Array, Float64Array

__all__ = ["HIGHEST", "LOWEST", "PARAMETERS", "WORDS", "Cycle", "Float32Array", "Float64Array"]
