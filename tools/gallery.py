# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw docs/figures/gallery.png with the effects of parameters, ends, dialects and extrapolation on the same keys.

python tools/gallery.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("agg")
from matplotlib import pyplot as plt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp import Keys
from interp.splines.cubic import VectorSpline
from interp.splines.lightwave_kochanek_bartels import KochanekBartelsSpline, LightWaveSpline
from interp.splines.tcb import VectorSpline as TcbSpline

ROOT = Path(__file__).resolve().parents[1]
FRAMES, VALUES = np.array([0.0, 10.0, 16.0, 34.0, 40.0]), np.array([0.0, 3.0, 1.0, 2.0, 0.0])


def with_one(name: str, number: float) -> Keys:
    """Return the keys with one parameter set on all keys."""
    return Keys(FRAMES, VALUES, **{name: number})


def panels() -> dict[str, dict[str, Any]]:
    """Return the curves of each panel by name."""
    plain = Keys(FRAMES, VALUES)
    skewed = Keys(FRAMES, VALUES, continuity=0.4, bias=0.5)
    dialects: dict[str, Any] = {
        "3D Studio": TcbSpline,
        "LightWave": LightWaveSpline,
        "Kochanek, Bartels": KochanekBartelsSpline,
    }
    drawn: dict[str, dict[str, Any]] = {
        name: {f"{number:g}": TcbSpline(with_one(name, number)) for number in (-1.0, 0.0, 1.0)}
        for name in ("tension", "continuity", "bias")
    }
    drawn["ease to and from"] = {f"{n:g}": TcbSpline(Keys(FRAMES, VALUES, ease_to=n, ease_from=n)) for n in (0.0, 0.5)}
    ends: dict[str, Any] = {"not-a-knot": "NOT_A_KNOT", "natural": "NATURAL", "clamped": "CLAMPED"}
    drawn["C2 cubic: ends, extrapolated"] = {name: VectorSpline(plain, ends=end) for name, end in ends.items()}
    drawn["continuity 0.4, bias 0.5: dialects"] = {name: cls(skewed) for name, cls in dialects.items()}
    return drawn


def main() -> None:
    figure, axes = plt.subplots(2, 3, figsize=(13.0, 6.4), sharex=True, layout="constrained")
    at = np.linspace(-6.0, 46.0, 800)
    for axis, (title, curves) in zip(axes.ravel(), panels().items(), strict=True):
        for name, spline in curves.items():
            axis.plot(at, spline(at, extrapolate="extrapolated" in title)[:, 0], label=name, linewidth=1.4)
        axis.plot(FRAMES, VALUES, "o", color="black", markersize=4.5)
        axis.set(title=title, ylim=(-2.5, 5.0))
        axis.legend(loc="upper right", fontsize=8)
    figure.savefig(ROOT / "docs" / "figures" / "gallery.png", dpi=80)


if __name__ == "__main__":
    main()
