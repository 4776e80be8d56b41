# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of locations with TCB parameters, and the expected values between them."""

from __future__ import annotations

import numpy as np

from tests.animation import reference
from tests.animation.curves import PARAMETERS, key

VALUES = [(0.0, -1.5, 2.0), (3.5, 0.1, 2.0), (-2.0, 7.25, 2.0), (0.5, 0.7, -4.0), (1.0, 1.0, 1.0)]
FRAMES = [1.0, 6.0, 18.5, 21.25, 40.0]


def keyed(thing, animation, frames=FRAMES, values=VALUES, path: str = "location", **parameters) -> list[tuple]:
    """Insert keys with parameters. Return the keys of each component in the form that `reference` expects."""
    key(thing, path, list(zip(frames, values, strict=True)))
    animation.enable(thing, keep_look=False)
    rows = []
    for n, frame in enumerate(frames):
        row = {name: float(np.float32(numbers[n])) for name, numbers in parameters.items()}
        if row:
            animation.key_set(thing, path, frame, **row)
        rows.append((float(np.float32(frame)), *(row.get(name, 0.0) for name in PARAMETERS)))
    return rows


def expected_at(rows, component: int, frame: float, values=VALUES, cycle: str = "SINGLE") -> float:
    keys = [(row[0], float(np.float32(value[component])), *row[1:]) for row, value in zip(rows, values, strict=True)]
    return reference.scalar(keys, frame, cycle)
