# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of linear tracks, compared with slerp's printed formula at 50 digits."""

from __future__ import annotations

import numpy as np
import pytest

from interp import Keys, rotations
from interp.splines import linear
from tests.all_pairs import all_pairs
from tests.interp import exact
from tests.interp.random_keys import random_rotations
from tests.interp.rotation_tracks import CYCLES, PATHS, off


class ExactSlerp(exact.Track):
    """Evaluate slerp by its two sines (docs/formulas, "Slerp"), from key to key."""

    def rotation(self, frame):
        n, t = self.at(frame)
        return self.slerp(self.p[n], self.p[n + 1], t) if self.last else self.p[0]


@pytest.mark.parametrize(
    ("path", "cycle", "keys", "step"), all_pairs(PATHS, CYCLES, [1, 2, 3, 6], [0.0, 1e-9, 0.3, 3.0])
)
def test_rotations_are_the_printed_slerp_at_50_digits_ease_and_signs_included(path, cycle, keys, step):
    generator = np.random.default_rng(keys)
    frames = np.cumsum(generator.uniform(0.5, 40.0, keys))
    q = random_rotations(generator, keys, step)
    if path == "AS_KEYED" and step < 0.1:
        q = rotations.unroll_signs(q)
    parameters = np.zeros((5, keys))
    parameters[3:] = generator.uniform(0.0, 1.0, (2, keys))
    track = ExactSlerp(frames, q, parameters, cycle=cycle, path=path)
    track.prepare_rotations()
    at = np.concatenate([generator.uniform(frames[0] - 20.0, frames[-1] + 20.0, 20), frames])
    expected = exact.rows([track.rotation(frame) for frame in at])
    found = linear.RotationSpline(Keys(frames, q, *parameters), cycle, path)(at)
    assert off(found, expected).max() < 1e-14 / track.flattest
