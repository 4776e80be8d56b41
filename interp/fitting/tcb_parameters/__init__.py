# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters with which keys play most like a given motion: least squares over samples of it.

A key's five parameters shape the segments beside it and no others. So all tracks are one sparse problem, whose normal
equations couple each key with its two neighbours; conjugate gradients solve them, each track for itself. Residuals are
those of the splines. Their derivatives are those of Hermite's curve through the same tangents, of a rotation in the
rotation vectors from key to key: exact about one axis, and else a good enough approximation to descend by; with whole
turns they are difference quotients. Each track has its own damping (Levenberg-Marquardt). The descent goes from the
simplest explanation to the fullest, and takes the next one only where it lowers the error enough. With all five
parameters there are many poor minima on the bounds: there it first stays inside them (Coleman and Li), and goes onto
them only at last. Source: docs/formulas.md, "Fitting parameters to a motion".

`parts` is the input, `segments` has the residuals, `derivatives` their products, `problem` the tracks together,
`solver` the linear equations, `descent` the steps, and `fit` the stages and the rounding of the result.
"""

from .fit import fit_parameters
from .parts import FLOAT32, SAMPLES, Part, sample_frames

__all__ = ["FLOAT32", "SAMPLES", "Part", "fit_parameters", "sample_frames"]
