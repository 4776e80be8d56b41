# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference for imports agrees with lib3ds on the same files, at frames where lib3ds does not interpolate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.exchange.composition import composition_of
from tests.formats.lib3ds import opened

UNAIMED = ["RotatingCube.3DS", "claw.3DS", "mak_running.3DS", "skull.3ds", "test1.3ds"]


@pytest.mark.parametrize("name", UNAIMED)
def test_at_keys_nodes_are_where_lib3ds_has_them(shared_data: Path, name: str) -> None:
    composition = composition_of(shared_data / name)
    with opened(shared_data / name) as (library, file):
        for frame in composition.key_frames():
            library.lib3ds_file_eval(file, float(frame))
            for index, node in enumerate(composition.scene.nodes):
                if node.kind == "OBJECT":
                    ident = index if node.node_id is None else node.node_id
                    matrix = np.array(library.lib3ds_file_node_by_id(file, ident).contents.matrix[:]).reshape(4, 4).T
                    assert composition.world(index, frame) == pytest.approx(matrix, abs=1e-5), (node.name, frame)
