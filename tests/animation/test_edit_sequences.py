# SPDX-License-Identifier: GPL-3.0-or-later
"""A seeded sample of the random sequences in `edit_sequences.py`. Sequences that fail are shortened.

`TCB_SEQUENCES=500 pytest tests/animation/test_edit_sequences.py` runs more sequences.
"""

from __future__ import annotations

import os
from types import ModuleType

import bpy
import pytest

from tests.animation.edit_sequences import Stage

COUNT = int(os.environ.get("TCB_SEQUENCES", "40"))
SEED = int("{}{}".format(*bpy.app.version))
"""A seed that differs by Blender version, so that runs in several versions test more sequences."""
PART = 10
"""The number of sequences per test."""


@pytest.fixture(scope="module")
def stage(tcb_animation: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tcb_animation.animation, tmp_path_factory.mktemp("sequences"))


@pytest.mark.parametrize("first", range(0, COUNT, PART))
def test_own_keys_and_parameters_are_kept_through_random_edits(stage: Stage, first: int) -> None:
    results = {number: stage.run(SEED, number) for number in range(first, min(first + PART, COUNT))}
    assert [stage.reduced(SEED, number, each) for number, each in results.items() if each.differences] == []


@pytest.mark.parametrize(
    ("seed", "number", "steps"),
    [
        (9002, 9, {2, 3}),
        (9001, 50, {1, 2, 3, 5}),
        (9001, 667, {3, 6, 7}),
        (9102, 521, {0, 1, 7, 11, 13}),
        (9701, 2157, {0, 2, 3, 4, 8}),
    ],
)
def test_sequences_that_once_differed(stage: Stage, seed: int, number: int, steps: set[int]) -> None:
    """Test chosen handle types, a copied mirrored key, parameters after a drag, two mirrors, and short handles."""
    assert stage.run(seed, number, steps).differences == []
