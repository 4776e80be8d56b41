# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw every interpolation method with the same keys, for `make demo` and tools/methods.py.

The curves show values, and the balls show the path of the tip of an object's x axis. Dots at equal time intervals show
the speed. The last picture is the example of docs/measurements/methods.md, an object rotated about the diagonal [1, 1,
1] by 0, 120 and 240 degrees.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt

from interp import Keys, rotations
from interp.base_spline import Method, Spline
from interp.splines import METHODS

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]

FRAMES = np.array([0.0, 9.0, 14.0, 26.0, 40.0, 48.0, 58.0, 64.0])
VALUES = np.array([1.0, 1.4, 4.6, 4.4, 0.5, 0.7, 3.6, 2.0])
"""Values above 0, for the logarithmic method, with short and long segments side by side."""
TIPS = np.array([[-0.8, -0.35], [-0.45, 0.6], [0.0, -0.6], [0.3, 0.7], [0.75, -0.2]])
"""The tip at the keys of rotations, in the view."""
TURN_FRAMES = np.arange(5) * 20.0
DIAGONAL = np.ones(3) / np.sqrt(3.0)
DIAGONAL_FRAMES = np.array([0.0, 30.0, 60.0])
DOT_EVERY = 2.0
COLUMNS = 5
CURVE, FAR, KEY, BALL, WRONG = "#2563a8", "#a9c3de", "#1d2733", "#eef1f4", "#d1495b"
_VIEW = np.array(
    [[-0.6, 0.8, 0.0], [-0.4, -0.3, np.sqrt(0.75)], np.cross([-0.6, 0.8, 0.0], [-0.4, -0.3, np.sqrt(0.75)])]
)
"""The axes of the view of the balls in the world: right, up, and toward the viewer."""


def value_keys() -> Keys:
    """Return keys of values that every method accepts."""
    return Keys(FRAMES, VALUES)


def rotation_keys() -> Keys:
    """Return keys of rotations that every method accepts."""
    toward_viewer = np.sqrt(1.0 - (TIPS**2).sum(axis=1))
    tips = np.column_stack([TIPS, toward_viewer]) @ _VIEW
    sides = rotations.unit_vectors(np.cross(_VIEW[1], tips))[0]
    matrices = np.stack([tips, sides, np.cross(tips, sides)], axis=-1)
    return Keys(TURN_FRAMES, rotations.from_matrix(matrices))


def diagonal_keys() -> Keys:
    """Return the keys of the textbook's example, which are rotations about the diagonal."""
    return Keys(DIAGONAL_FRAMES, rotations.from_axis_angle(DIAGONAL, np.radians([0.0, 120.0, 240.0])))


def picture(path: Path) -> Path:
    """Draw all methods."""
    methods = list(METHODS.values())
    rows = -(-len(methods) // COLUMNS)
    figure = plt.figure(figsize=(15.0, 2.5 * rows + 4.6))
    upper, lower = figure.subfigures(2, 1, height_ratios=(2.5 * rows + 0.5, 4.1))
    upper.suptitle("The same keys with every method: a value, and the path of an axis tip (a dot every 2 frames)")
    grid = upper.add_gridspec(
        rows,
        2 * COLUMNS,
        width_ratios=[1.0, 1.0] * COLUMNS,
        left=0.015,
        right=0.99,
        top=0.92,
        bottom=0.01,
        wspace=0.03,
        hspace=0.16,
    )
    for index, method in enumerate(methods):
        row, column = divmod(index, COLUMNS)
        curve, ball = (upper.add_subplot(grid[row, 2 * column + side]) for side in (0, 1))
        curve.set_title(method.label, fontsize=10, loc="left", color=KEY)
        _draw_values(curve, method)
        _draw_turns(ball, method, rotation_keys())
    lower.suptitle("Rotated about the diagonal by 0, 120 and 240 degrees: roll, pitch and yaw deviate, at uneven speed")
    balls = lower.add_gridspec(
        1, 4, width_ratios=(1, 1, 1, 2.2), left=0.015, right=0.99, top=0.84, bottom=0.13, wspace=0.12
    )
    for place, name in enumerate(("ROLL_PITCH_YAW", "LINEAR", "TCB")):
        axes = lower.add_subplot(balls[0, place])
        axes.set_title(METHODS[name].label, fontsize=10)
        _draw_turns(axes, METHODS[name], diagonal_keys(), WRONG if place == 0 else CURVE)
    _draw_pace(lower.add_subplot(balls[0, 3]), methods)
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path


def _draw_values(axes: Axes, method: Method) -> None:
    """Draw the values of a method, with the keys and dots at equal time intervals."""
    axes.set(xlim=(FRAMES[0] - 2.0, FRAMES[-1] + 2.0), ylim=(-1.2, 6.6), xticks=[], yticks=[])
    axes.spines[:].set_color("#ccd3da")
    if method.values is None:
        axes.text(0.5, 0.5, "rotations only", transform=axes.transAxes, ha="center", color="#8a949e", fontsize=9)
        return
    spline = method.values(value_keys())
    frames, dots = np.linspace(FRAMES[0], FRAMES[-1], 500), np.arange(FRAMES[0], FRAMES[-1] + 1.0, DOT_EVERY)
    axes.axhline(0.0, color="#dde2e7", lw=0.8)
    axes.plot(frames, spline(frames)[:, 0], color=CURVE, lw=1.6)
    axes.plot(dots, spline(dots)[:, 0], ".", color=CURVE, ms=3.5)
    axes.plot(FRAMES, VALUES, "o", mfc="none", mec=KEY, ms=5.5)


def _draw_turns(axes: Axes, method: Method, keys: Keys, color: str = CURVE) -> None:
    axes.set(xlim=(-1.04, 1.04), ylim=(-1.04, 1.04), xticks=[], yticks=[], aspect="equal")
    axes.axis("off")
    if method.rotations is None:
        axes.text(0.0, 0.0, "values only", ha="center", color="#8a949e", fontsize=9)
        return
    draw_tip(axes, method.rotations(keys), color)


def draw_tip(axes: Axes, spline: Spline, color: str = CURVE) -> None:
    """Draw the path of the tip of an axis that a rotation spline turns, on a ball."""
    axes.add_patch(plt.Circle((0.0, 0.0), 1.0, color=BALL))
    first, last = spline.keys.frames[[0, -1]]
    path = _tip(spline(np.linspace(first, last, 700)))
    dots = _tip(spline(np.arange(first, last + 1.0, DOT_EVERY)))
    is_near, dot_is_near = path[2] >= 0.0, dots[2] >= 0.0
    for on_side, side_color, width in ((~is_near, FAR, 1.0), (is_near, color, 1.7)):
        axes.plot(*np.where(on_side, path[:2], np.nan), color=side_color, lw=width)
    for on_side, side_color in ((~dot_is_near, FAR), (dot_is_near, color)):
        axes.plot(*dots[:2, on_side], ".", color=side_color, ms=4.0)
    axes.plot(*_tip(spline.keys.values)[:2], "o", mfc="none", mec=KEY, ms=5.5, clip_on=False)


def _tip(q: Array) -> Array:
    """Return the direction of the x axis in the view (right, up, toward the viewer), shape (3, n)."""
    tips: Array = _VIEW @ rotations.to_matrix(q)[..., 0].T
    return tips


def _draw_pace(axes: Axes, methods: list[Method]) -> None:
    """Draw the angular speed of each method, and list methods with constant speed together."""
    frames = np.linspace(DIAGONAL_FRAMES[0], DIAGONAL_FRAMES[-1], 401)
    even_methods = []
    for method in methods:
        if method.rotations is None:
            continue
        pace = np.degrees(np.linalg.norm(method.rotations(diagonal_keys())(frames, 1), axis=1))
        if np.ptp(pace) < 1e-6:
            even_methods.append(method.label)
        else:
            wrong = method.name == "ROLL_PITCH_YAW"
            axes.plot(frames, pace, color=WRONG if wrong else None, lw=2.4 if wrong else 1.3, label=method.label)
    pace = np.full_like(frames, 240.0 / np.ptp(DIAGONAL_FRAMES))
    axes.plot(frames, pace, color=CURVE, lw=2.0, label="\n".join(["evenly:", *even_methods]))
    axes.set(title="Angular speed", xlabel="frame", ylabel="degrees per frame", xlim=(0.0, 100.0), ylim=(0.0, 7.0))
    axes.set_xticks(DIAGONAL_FRAMES)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="center right")
