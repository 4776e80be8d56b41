# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the figures of docs/splines: `python tools/spline_figures.py [FOLDER]`.

There is one figure per module of `interp.splines`, with the motion of each class above its velocity.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.methods import CURVE, KEY, draw_tip, rotation_keys, value_keys
from interp import splines
from interp.rotations.base_rotation_spline import OrientationSpline

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "splines"


def draw(name: str, path: Path) -> None:
    """Draw the splines of a module above their velocities."""
    module = importlib.import_module(f"interp.splines.{name}")
    classes: dict[str, Any] = {
        title: cls
        for title, cls in vars(module).items()
        if inspect.isclass(cls) and title.endswith("Spline") and cls.__module__ == module.__name__
    }
    figure, axes = plt.subplots(
        2,
        len(classes),
        figsize=(3.2 * len(classes), 3.9),
        height_ratios=(1.7, 1.0),
        squeeze=False,
        layout="constrained",
    )
    for (above, below), (title, cls) in zip(axes.T, classes.items(), strict=True):
        is_rotation = issubclass(cls, OrientationSpline)
        spline = cls(rotation_keys() if is_rotation else value_keys())
        frames = np.linspace(spline.keys.frames[0], spline.keys.frames[-1], 500)
        above.set_title(title, fontsize=9)
        if is_rotation:
            above.set(xlim=(-1.04, 1.04), ylim=(-1.04, 1.04), aspect="equal")
            above.axis("off")
            draw_tip(above, spline)
            velocity = np.degrees(np.linalg.norm(spline(frames, 1), axis=1))
        else:
            above.plot(frames, spline(frames)[:, 0], color=CURVE, lw=1.6)
            above.plot(spline.keys.frames, spline.keys.values[:, 0], "o", mfc="none", mec=KEY, ms=5.0)
            above.set(xticks=[], ylim=(-1.2, 6.6))
            velocity = spline(frames, 1)[:, 0]
        below.plot(frames, velocity, color=CURVE, lw=1.2)
        below.set_xticks(spline.keys.frames, [])
        below.grid(axis="x", color="#dde2e7")
        for panel in (above, below):
            panel.tick_params(labelsize=7)
            panel.spines[:].set_color("#ccd3da")
    figure.savefig(path, dpi=70)
    plt.close(figure)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for module in pkgutil.iter_modules(splines.__path__):
        draw(module.name, folder / f"{module.name}.png")
