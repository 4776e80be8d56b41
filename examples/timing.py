# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw one motion with several frame functions: `python -m examples.timing docs/figures/timing.png`.

Each frame function is above its path. Dots on the path are two frames apart, and a ring marks the start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt

from interp import Keys
from interp.retiming import ConstantSpeed, retimed
from interp.splines import tcb

mpl.use("Agg")

import matplotlib.pyplot as plt

Array = npt.NDArray[np.float64]

FRAMES = np.array([0.0, 8.0, 30.0, 40.0, 60.0])
PLACES = np.array([[0.0, 0.0], [3.0, 2.2], [4.0, -0.4], [7.0, 1.9], [10.0, 0.2]])
DOT_EVERY = 2.0
PATH, DOT, KEY, LINE = "#c3ccd6", "#2563a8", "#1d2733", "#d1495b"


def motion() -> tcb.VectorSpline:
    return tcb.VectorSpline(Keys(FRAMES, PLACES))


def functions() -> dict[str, Callable[[Array], Array]]:
    """Return the frame functions by their names in the sidebar."""
    last = FRAMES[-1]
    return {
        "Unchanged": lambda t: t,
        "Reverse": lambda t: last - t,
        "Hold": lambda t: np.where(t < 20.0, t, np.where(t < 38.0, 20.0, t - 18.0)),
        "Ping-Pong, twice as fast": lambda t: last - np.abs(2.0 * t - last),
        "Constant Speed": ConstantSpeed([motion()]),
    }


def picture(file: Path) -> Path:
    """Draw the motion with every frame function, and return the file."""
    spline, every = motion(), functions()
    figure, axes = plt.subplots(
        2, len(every), figsize=(13.0, 3.6), height_ratios=(2.0, 1.5), layout="constrained", squeeze=False
    )
    t = np.linspace(0.0, FRAMES[-1], 601)
    way = spline(t)
    for column, (name, function) in enumerate(every.items()):
        above, below = axes[0, column], axes[1, column]
        above.plot(t, function(t), color=LINE, linewidth=1.8)
        above.set(title=name, xlim=(0, FRAMES[-1]), ylim=(-3, FRAMES[-1] + 3), xticks=[0, 60], yticks=[0, 60])
        above.set_xlabel("frame t", labelpad=-8)
        above.set_ylabel("F(t)" if column == 0 else "", labelpad=-8)
        dots = retimed(spline, function(np.arange(0.0, FRAMES[-1] + 1, DOT_EVERY)))
        below.plot(*way.T, color=PATH, linewidth=1.2)
        below.plot(*dots.T, ".", color=DOT, markersize=4.5)
        below.plot(*PLACES.T, "D", color=KEY, markersize=3.5)
        below.plot(*dots[0], "o", color="none", markeredgecolor=KEY, markersize=11)
        below.set_aspect("equal")
        below.axis("off")
    figure.savefig(file, dpi=90)
    plt.close(figure)
    return file


if __name__ == "__main__":
    print(picture(Path(sys.argv[1])))
