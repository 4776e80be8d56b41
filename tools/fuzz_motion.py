# SPDX-License-Identifier: GPL-3.0-or-later
"""Read many damaged FBX and glTF files, and check that they cause nothing worse than the readers' own error.

    python tools/fuzz_motion.py FILE… [--inputs 100000] [--seed 1]

Each input is one of the files with some bytes changed, removed, added or replaced. Reading it, and evaluating what was
read, may raise `MotionError` and nothing else. An input that takes more than two seconds of processor time, or more
than 500 MB of additional memory, is a failure, too. A failure is saved in build/fuzz/ and ends the run with status 1.
Linux only.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from formats import fbx, gltf
from formats.motion import MotionError
from tools import fuzz_3ds

MEMORY = 500 << 20
"""Bytes that reading may take above those of the process at its start."""
PLACES = 7
"""Times at which what was read is evaluated."""


def judge(data: bytes) -> str:
    """Read and evaluate an input, and return the outcome; any other error than the readers' own is raised."""
    try:
        file = fbx.read(data) if data[:4] == b"Kayd" else gltf.read(data)
    except MotionError:
        return "refused"
    for take in file.takes:
        for motion in take.motions.values():
            for track in (motion.translation, motion.rotation, motion.scale):
                if track is not None:
                    with np.errstate(all="ignore"):
                        values = track.evaluate(np.linspace(track.times[0], track.times[-1], PLACES))
                    if values.shape not in ((PLACES, 3), (PLACES, 4)):
                        raise AssertionError(f"values have the shape {values.shape}")
    return "read"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="FBX, .glb and .gltf files to change")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1, help="another seed makes other inputs")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = [path.read_bytes() for path in options.files]
    return fuzz_3ds.run(seeds, options.inputs, options.seed, judge, MEMORY, ".motion")


if __name__ == "__main__":
    raise SystemExit(main())
