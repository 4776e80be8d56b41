# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged 3D Studio files cause nothing worse than an error or a warning.

Each input is a generated scene with some bytes changed, removed, added or replaced. Reading an input may raise only
`ThreeDSError`. If a scene was read, it must be the same after it is written and read again. By default, 1,000 inputs
are read. `TCB_FUZZ=1000000 pytest tests/formats/test_fuzz.py` reads more. An input that fails is saved in build/fuzz/.
"""

from __future__ import annotations

import os
import random
import resource
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from formats import three_ds
from tests.formats.generated_scenes import make_files
from tests.formats.mutations import mutate
from tests.formats.scene_equality import same

INPUTS = max(1000, int(os.environ.get("TCB_FUZZ", "0")))
FAILED_INPUTS = Path(__file__).resolve().parents[2] / "build" / "fuzz"
MAX_SECONDS = 2.0
"""Maximum processor time per input."""
MAX_EXTRA_BYTES = 200 << 20
"""Maximum additional memory for reading."""


def check(data: bytes) -> None:
    scene, offset = None, None
    try:
        scene = three_ds.read(data)
    except three_ds.ThreeDSError as error:
        offset = error.offset
    if scene is None:
        assert offset in range(len(data) + 1), f"the error is at byte {offset} of {len(data)}"
        return
    for warning in scene.warnings:
        assert 0 <= warning.offset <= len(data), warning
    if scene.keyframer is not None:
        check_parents(scene.keyframer.parents())
    assert same(scene, three_ds.read(three_ds.write(scene))), "the scene changes when it is written and read again"


def check_parents(parents: Sequence[int | None]) -> None:
    """Check that no node is its own ancestor."""
    for index in range(len(parents)):
        ancestor: int | None = index
        for _ in parents:
            ancestor = None if ancestor is None else parents[ancestor]
        assert ancestor is None, f"node {index} is its own ancestor, or has such an ancestor"


@contextmanager
def limits() -> Iterator[None]:
    """Limit the memory, and let a timer that expires raise TimeoutError. Linux only."""

    def raise_timeout(_: int, __: object) -> NoReturn:
        raise TimeoutError(f"took more than {MAX_SECONDS} s")

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGPROF, raise_timeout)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MAX_EXTRA_BYTES, before[1]))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGPROF, handler)


@pytest.mark.slow
def test_damaged_files_do_no_harm() -> None:
    files = make_files(np.random.default_rng(1))
    with limits():
        for number in range(INPUTS):
            rng = random.Random(f"1 {number}")
            data = mutate(rng, rng.choice(files), files)
            signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
            try:
                check(data)
            except Exception as error:
                FAILED_INPUTS.mkdir(parents=True, exist_ok=True)
                (FAILED_INPUTS / f"{number}.3ds").write_bytes(data)
                raise AssertionError(f"input {number}") from error
