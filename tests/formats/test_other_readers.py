# SPDX-License-Identifier: GPL-3.0-or-later
"""lib3ds and assimp read the same data from real and from written files."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from formats import three_ds
from tests.formats.files import FILES
from tests.formats.generated_scenes import TRACKS, make_scene
from tests.formats.lib3ds import agrees_with_lib3ds

NAMES = {"OBJECT": b"Mesh", "CAMERA": b"Camera", "CAMERA_TARGET": b"Camera", "LIGHT": b"Light", "AMBIENT": b"$AMBIENT$"}
SEEDS = (0, 6)
"""The nodes of the first scene have IDs, those of the second have none."""


def every_kind(seed: int) -> three_ds.Scene:
    """Return a scene with a node of each kind, all their tracks, and the animated objects."""
    return make_scene(np.random.default_rng(seed), [*TRACKS], True)


@pytest.mark.parametrize("name", FILES)
def test_every_key_is_what_lib3ds_reads(shared_data: Path, name: str) -> None:
    assert agrees_with_lib3ds(shared_data / name) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_lib3ds_reads_what_is_written_here(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "every kind.3ds"
    path.write_bytes(three_ds.write(every_kind(seed)))
    assert agrees_with_lib3ds(path) > 30


@pytest.mark.parametrize("seed", SEEDS)
def test_assimp_reads_what_is_written_here(tmp_path: Path, seed: int) -> None:
    if shutil.which("assimp") is None:
        pytest.skip("assimp is not installed (on Debian: apt-get install assimp-utils)")
    made = every_kind(seed)
    assert made.keyframer is not None
    # assimp refuses materials and other chunks with random content.
    nodes = (replace(node, name=NAMES.get(node.kind, b"Spot"), chunks=()) for node in made.nodes)
    mesh, *others = made.objects
    assert isinstance(mesh.content, three_ds.Mesh)
    mesh = three_ds.Object(mesh.name, replace(mesh.content, chunks=(), face_chunks=()))
    keyframer = replace(made.keyframer, nodes=tuple(nodes))
    path = tmp_path / "every kind.3ds"
    path.write_bytes(three_ds.write(three_ds.Scene(three_ds.Editor((mesh, *others)), keyframer)))
    result = subprocess.run(["assimp", "info", str(path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    found = dict(re.findall(r"^(Meshes|Faces|Cameras|Lights|Animations): +(\d+)$", result.stdout, re.MULTILINE))
    assert found == {"Meshes": "1", "Faces": "1", "Cameras": "1", "Lights": "2", "Animations": "1"}
