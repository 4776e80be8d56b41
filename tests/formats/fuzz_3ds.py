# SPDX-License-Identifier: GPL-3.0-or-later
"""Read many damaged 3D Studio files, and check that they cause nothing worse than an error or a warning.

    python tests/formats/fuzz_3ds.py [FILE…] [--inputs 1000000] [--seed 1]

Each input is a generated scene or a given file, with some bytes changed, removed, added or replaced. Reading an input
may raise only `ThreeDSError`. If a scene was read, it must be the same after it is written and read again. An input
also fails if it takes more than two seconds of processor time, or more than 200 MB of additional memory. A failed input
is saved in build/fuzz/ and ends the run with status 1. Linux only.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from formats import three_ds
from tests.formats.generated_scenes import make_files
from tests.formats.mutations import mutate
from tests.formats.scene_equality import same

FAILED_INPUTS = Path(__file__).resolve().parents[2] / "build" / "fuzz"
MAX_SECONDS = 2.0
"""Maximum processor time per input."""
MAX_EXTRA_BYTES = 200 << 20
"""Maximum additional memory for reading."""


def judge(data: bytes) -> str:
    """Read an input, and return "read", "read with warnings" or "refused".

    Raise AssertionError if an error or warning is outside the file, a node is its own ancestor, or the scene changes
    when it is written and read again.
    """
    try:
        scene = three_ds.read(data)
    except three_ds.ThreeDSError as error:
        if error.offset is None or not 0 <= error.offset <= len(data):
            raise AssertionError(f"the error is at byte {error.offset} of {len(data)}") from error
        return "refused"
    for warning in scene.warnings:
        if not 0 <= warning.offset <= len(data):
            raise AssertionError(f"a warning is at byte {warning.offset} of {len(data)}: {warning}")
    if scene.keyframer is not None:
        check_parents(scene.keyframer.parents())
    if not same(scene, three_ds.read(three_ds.write(scene))):
        raise AssertionError("the scene changes when it is written and read again")
    return "read with warnings" if scene.warnings else "read"


def check_parents(parents: Sequence[int | None]) -> None:
    """Check that no node is its own ancestor."""
    for index in range(len(parents)):
        ancestor: int | None = index
        for _ in parents:
            ancestor = None if ancestor is None else parents[ancestor]
        if ancestor is not None:
            raise AssertionError(f"node {index} is its own ancestor, or has such an ancestor")


def run(files: Sequence[bytes], inputs: int, seed: int) -> int:
    """Test a number of inputs, print the outcomes, and return the exit status."""
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    started = time.monotonic()
    signal.signal(signal.SIGPROF, raise_timeout)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + MAX_EXTRA_BYTES, resource.RLIM_INFINITY))
    memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for index in range(inputs):
        rng = random.Random(f"{seed} {index}")
        data = mutate(rng, rng.choice(files), files)
        signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
        cpu_start = time.process_time()
        try:
            outcomes[judge(data)] += 1
        except Exception:
            traceback.print_exc()
            print(f"input {index} of seed {seed} failed; it is saved in {save_failure(data, seed, index)}")
            return 1
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, time.process_time() - cpu_start)
    seconds = time.monotonic() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory_before) / 1024
    print(f"{inputs} inputs in {seconds:.0f} s: " + ", ".join(f"{count} {name}" for name, count in outcomes.items()))
    print(f"slowest {1e3 * slowest:.1f} ms, memory grew by {grown:.1f} MB")
    return 0


def raise_timeout(_: int, __: object) -> NoReturn:
    raise TimeoutError(f"took more than {MAX_SECONDS} s")


def address_space() -> int:
    """Return the size of this process's address space, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def save_failure(data: bytes, seed: int, index: int) -> Path:
    FAILED_INPUTS.mkdir(parents=True, exist_ok=True)
    path = FAILED_INPUTS / f"{seed}-{index}.3ds"
    path.write_bytes(data)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="files to damage in addition to the generated scenes"
    )
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1, help="seed of the random generator")
    options = parser.parse_args()
    files = make_files(np.random.default_rng(options.seed))
    files += [path.read_bytes() for path in options.files]
    return run(files, options.inputs, options.seed)


if __name__ == "__main__":
    raise SystemExit(main())
