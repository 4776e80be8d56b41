# SPDX-License-Identifier: GPL-3.0-or-later
"""lib3ds and assimp read the same data from real and from written files."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from formats import three_ds
from tests.formats.files import FILES
from tests.formats.generated_scenes import TRACKS
from tests.formats.lib3ds import agrees_with_lib3ds

NAMES = {"OBJECT": b"Box", "CAMERA": b"Cam", "CAMERA_TARGET": b"Cam", "LIGHT": b"Lamp", "AMBIENT": b"$AMBIENT$"}


def every_kind(with_ids: bool) -> three_ds.Scene:
    """Return a scene with a node of each kind, all their tracks, and the animated objects."""
    rng = np.random.default_rng(1)

    def floats(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    def track(kind: str) -> three_ds.Track:
        flags = np.array([0, 31, 9, 0x4016], np.uint16)
        parameters = rng.random((5, 4), np.float32) * (flags >> np.arange(5)[:, np.newaxis] & 1)
        return three_ds.Track(
            kind,
            np.array([-10, 0, 5, 300], np.int32),
            floats(4, three_ds.COMPONENTS[kind]),
            flags,
            parameters.astype(np.float32),
            flags=0x40 | int(rng.integers(0, 4)),
            names=(b"Open", b"", b"Shut", b"\xc4rger") if kind == "MORPH" else (),
        )

    nodes = [
        three_ds.Node(
            kind,
            NAMES.get(kind, b"Spot"),
            parent=index - 1 if index and kind != "AMBIENT" else None,
            node_id=index if with_ids else None,
            flags=(0x4000, 2),
            pivot=floats(3) if kind == "OBJECT" else None,
            instance_name=b"again" if kind == "OBJECT" else None,
            tracks=tuple(map(track, kinds)),
        )
        for index, (kind, kinds) in enumerate(TRACKS.items())
    ]
    corners, visible = np.array([[0, 1, 2]], np.uint16), np.array([7], np.uint16)
    mesh = three_ds.Mesh(floats(3, 3), corners, visible, floats(3, 2), np.eye(4, 3, dtype=np.float32))
    objects = (
        three_ds.Object(b"Box", mesh),
        three_ds.Object(b"Cam", three_ds.Camera(floats(3), floats(3))),
        three_ds.Object(b"Lamp", three_ds.Light(floats(3), floats(3))),
        three_ds.Object(b"Spot", three_ds.Light(floats(3), floats(3), 1.0, three_ds.Spotlight(floats(3), 40, 45))),
    )
    keyframer = three_ds.Keyframer(tuple(nodes), three_ds.Header(5, b"TCB", 300), (0, 300), 0)
    return three_ds.Scene(three_ds.Editor(objects), keyframer)


@pytest.mark.parametrize("name", FILES)
def test_every_key_is_what_lib3ds_reads(shared_data: Path, name: str) -> None:
    assert agrees_with_lib3ds(shared_data / name) > 0


@pytest.mark.parametrize("with_ids", [True, False])
def test_lib3ds_reads_what_is_written_here(tmp_path: Path, with_ids: bool) -> None:
    path = tmp_path / "every kind.3ds"
    path.write_bytes(three_ds.write(every_kind(with_ids)))
    assert agrees_with_lib3ds(path) > 50


@pytest.mark.parametrize("with_ids", [True, False])
def test_assimp_reads_what_is_written_here(tmp_path: Path, with_ids: bool) -> None:
    if shutil.which("assimp") is None:
        pytest.skip("assimp is not installed (on Debian: apt-get install assimp-utils)")
    path = tmp_path / "every kind.3ds"
    path.write_bytes(three_ds.write(every_kind(with_ids)))
    result = subprocess.run(["assimp", "info", str(path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    found = dict(re.findall(r"^(Meshes|Faces|Cameras|Lights|Animations): +(\d+)$", result.stdout, re.MULTILINE))
    assert found == {"Meshes": "1", "Faces": "1", "Cameras": "1", "Lights": "2", "Animations": "1"}
