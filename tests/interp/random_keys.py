# SPDX-License-Identifier: GPL-3.0-or-later
"""Random keys: frames, orientations and TCB parameters."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from interp import rotations


def random_frames(generator, keys, shortest=1.0, longest=40.0):
    """Return frames with distances of all magnitudes between two limits."""
    lengths = np.exp(generator.uniform(np.log(shortest), np.log(longest), keys))
    return np.cumsum(lengths) - 20.0


def random_turns(seed, keys, largest):
    """Return frames, orientations, and the same orientations for scipy."""
    generator = np.random.default_rng(seed)
    frames = random_frames(generator, keys, 2.0, 20.0)
    turns = generator.normal(size=(keys, 3))
    turns *= generator.uniform(0.0, largest, (keys, 1)) / np.linalg.norm(turns, axis=1, keepdims=True)
    orientations = [Rotation.from_rotvec(turns[0])]
    for turn in turns[1:]:
        orientations.append(Rotation.from_rotvec(turn) * orientations[-1])
    known = Rotation.concatenate(orientations)
    return frames, np.roll(known.as_quat(), 1, axis=1), known


def random_parameters(generator, keys):
    """Return parameters. A third of them are at their limits or 0."""
    parameters = generator.uniform(-1.0, 1.0, (5, keys))
    special = generator.choice([-1.0, 0.0, 1.0], (5, keys))
    parameters = np.where(generator.random((5, keys)) < 1 / 3, special, parameters)
    parameters[3:] = np.abs(parameters[3:])
    return parameters


def random_rotations(generator, keys, step):
    """Return orientations with any signs, each rotated by about `step` radians from its predecessor."""
    turns = generator.normal(size=(keys, 3))
    turns *= step * generator.uniform(0.5, 1.0, (keys, 1)) / np.linalg.norm(turns, axis=1, keepdims=True)
    q = rotations.turns_to_rotations(np.linalg.norm(turns, axis=1), turns, first=generator.normal(size=4))
    return q * generator.choice([-1.0, 1.0], (keys, 1))
