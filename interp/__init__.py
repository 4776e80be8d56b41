# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines through keys. This package requires only NumPy and imports nothing else from this project.

>>> from tcb_splines import Keys, tcb
>>> keys = Keys([0, 10, 30], [[0.0], [1.0], [0.0]], tension=[0, 0.5, 0])
>>> tcb.VectorSpline(keys)([0, 5, 10]).shape
(3, 1)
"""

from . import rotations
from .keys import Keys, KeysError
from .spline_batch import SplineBatch, evaluate_many
from .splines import tcb

__version__ = "0.1.0"

__all__ = ["Keys", "KeysError", "SplineBatch", "__version__", "evaluate_many", "rotations", "tcb"]
