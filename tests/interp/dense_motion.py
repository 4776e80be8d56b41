# SPDX-License-Identifier: GPL-3.0-or-later
"""Dense motion for tests of reduction."""

from __future__ import annotations

import numpy as np


def smooth_paths(count: int, tracks: int, components: int, seed: int, noise: float) -> np.ndarray:
    """Return smooth paths with some noise, as of a person who moves, shape (tracks, count, components)."""
    random = np.random.default_rng(seed)
    frames = np.arange(count)[:, np.newaxis]
    found = []
    for _ in range(tracks):
        waves = random.uniform(0.02, 0.25, 5)
        amounts = random.normal(size=(5, components)) / (1.0 + 20.0 * waves[:, np.newaxis])
        smooth = np.sin(frames * waves + random.uniform(0, 7, 5)) @ amounts
        found.append(smooth + noise * random.normal(size=smooth.shape))
    return np.stack(found)
