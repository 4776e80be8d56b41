# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how long a large .3ds file takes to read, compared with reading its bytes and unpacking them with NumPy.

    python tools/bench_3ds.py [--megabytes 100] [--tracks 1000] [--repeat 10]

NumPy alone can unpack keys of equal size, one structured array a track. With different parameters it can't know where
each key begins: for that row there is no comparison.
"""

from __future__ import annotations

import argparse
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from formats import three_ds

CHUNK = struct.Struct("<HI")
FIRST_NODE = CHUNK.size + 10 + CHUNK.size
"""Before it are the file's header, its version and the keyframer's header."""
BEFORE_KEYS = CHUNK.size + (CHUNK.size + 7 + 6) + (CHUNK.size + 14)
"""In a node: its header, its name of six characters, its flags and parent, and the head of its track."""
PARAMETERS = [(name, "<f4") for name in ("tension", "continuity", "bias", "ease_to", "ease_from")]
Layout = list[tuple[str, str] | tuple[str, str, tuple[int, ...]]]
PLAIN: Layout = [("frame", "<i4"), ("flags", "<u2"), ("value", "<f4", (3,))]
FULL: Layout = [*PLAIN[:2], *PARAMETERS, PLAIN[2]]


def make_file(megabytes: float, tracks: int, choices: list[int]) -> bytes:
    """Make a file of position tracks, each of whose keys has one of these flags."""
    rng = np.random.default_rng(1)
    size = 18 + 4 * np.mean([flags.bit_count() for flags in choices])
    count = int(1e6 * megabytes / tracks / size)
    nodes = []
    for index in range(tracks):
        flags = rng.choice(choices, count).astype(np.uint16)
        parameters = (0.25 * (flags >> np.arange(5)[:, np.newaxis] & 1)).astype(np.float32)
        frames, values = np.arange(count, dtype=np.int32), rng.random((count, 3), np.float32)
        track = three_ds.Track("POSITION", frames, values, flags, parameters)
        nodes.append(three_ds.Node("OBJECT", b"N%05d" % index, tracks=(track,)))
    return three_ds.write(three_ds.Scene(keyframer=three_ds.Keyframer(tuple(nodes))))


def read(path: Path) -> three_ds.Scene:
    return three_ds.read(path.read_bytes())


def read_and_unpack(path: Path, layout: np.dtype[np.void]) -> list[list[npt.NDArray[np.generic]]]:
    """Return the columns of each track's keys, which are all of this layout."""
    data = path.read_bytes()
    at, tracks = FIRST_NODE, []
    while at < len(data):
        _, length = CHUNK.unpack_from(data, at)
        keys = np.frombuffer(data, layout, (length - BEFORE_KEYS) // layout.itemsize, at + BEFORE_KEYS)
        tracks.append([keys[name].copy() for name in layout.names or ()])
        at += length
    return tracks


def best_of(repeat: int, *runs: Callable[[], object]) -> list[float]:
    """Return the least time of each, taking turns: noise is never negative, and comes in bursts."""
    times = []
    for run in runs * repeat:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return [min(times[index :: len(runs)]) for index in range(len(runs))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--tracks", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=10)
    options = parser.parse_args()
    print(f"{'keys':22}{'MB':>8}{'ms':>8}{'NumPy ms':>10}")
    rows: list[tuple[str, list[int], Layout | None]] = [
        ("without parameters", [0], PLAIN),
        ("with all parameters", [31], FULL),
        ("some with, some without", [0, 0, 0, 7], None),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tracks.3ds"
        for name, choices, layout in rows:
            path.write_bytes(make_file(options.megabytes, options.tracks, choices))
            runs: list[Callable[[], object]] = [partial(read, path)]
            if layout is not None:
                runs.append(partial(read_and_unpack, path, np.dtype(layout)))
            ours, *peer = best_of(options.repeat, *runs)
            line = f"{name:24}{path.stat().st_size / 1e6:6.1f}{1e3 * ours:8.0f}"
            line += "".join(f"{1e3 * seconds:10.0f}  {ours / seconds:.2f} times as long" for seconds in peer)
            print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
