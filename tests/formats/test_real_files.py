# SPDX-License-Identifier: GPL-3.0-or-later
"""Round trips of .3ds files from other programs, and their hierarchy, keys and parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats import three_ds
from tests.formats.files import FILES, SLOW_FILES


@pytest.mark.parametrize("name", FILES + SLOW_FILES)
def test_a_file_is_read_without_warnings_and_written_back_byte_for_byte(shared_data: Path, name: str) -> None:
    data = (shared_data / name).read_bytes()
    scene = three_ds.read(data)
    assert scene.warnings == ()
    assert three_ds.write(scene) == data


# The file was written with lib3ds from these numbers.
def test_parameters_are_read_at_their_keys(shared_data: Path) -> None:
    (node,) = three_ds.read((shared_data / "tcb_fixture_lib3ds.3ds").read_bytes()).nodes
    position = node.track("POSITION")
    assert position.frames.tolist() == [0, 10, 14, 40, 60]
    tension, continuity, bias, ease_to, ease_from = position.parameters
    assert tension == pytest.approx([0.25, 0, -0.5, 1, 0.1])
    assert continuity == pytest.approx([0, 0.5, -1, 0, 0.2])
    assert bias == pytest.approx([0, -0.25, 0.5, 0, 0.3])
    assert ease_to == pytest.approx([0, 0.3, 0, 0.6, 0.4])
    assert ease_from == pytest.approx([0.5, 0, 0.2, 0.7, 0])
