# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys that dense curves were made from: a baked, exported or sampled motion back to what an animator set."""

from .curves import AUTOMATIC
from .search import CURVE, EASED, HOLD, LINE
from .unbake import Unbaked, unbake_rotations, unbake_values

__all__ = ["AUTOMATIC", "CURVE", "EASED", "HOLD", "LINE", "Unbaked", "unbake_rotations", "unbake_values"]
