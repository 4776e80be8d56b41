# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark runs, and what it compares reads the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from formats import three_ds
from tools import bench_3ds


@pytest.mark.slow
def test_the_benchmark_prints_a_row_for_each_sort_of_key() -> None:
    command = [sys.executable, bench_3ds.__file__, "--megabytes=0.1", "--tracks=3", "--repeat=1"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "without parameters",
        "with all parameters",
        "some with, some without",
    ]


@pytest.mark.parametrize(("flags", "layout"), [(0, bench_3ds.PLAIN), (31, bench_3ds.FULL)])
def test_numpy_unpacks_what_is_read_here(tmp_path: Path, flags: int, layout: bench_3ds.Layout) -> None:
    path = tmp_path / "tracks.3ds"
    path.write_bytes(bench_3ds.make_file(0.1, 3, [flags]))
    tracks = [node.tracks[0] for node in three_ds.read(path.read_bytes()).nodes]
    unpacked = bench_3ds.read_and_unpack(path, np.dtype(layout))
    for track, (frames, key_flags, *parameters, values) in zip(tracks, unpacked, strict=True):
        assert len(frames) > 500
        assert np.array_equal(track.frames, frames)
        assert np.array_equal(track.key_flags, key_flags)
        assert np.array_equal(track.values, values)
        assert not parameters or np.array_equal(track.parameters, parameters)
