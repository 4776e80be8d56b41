# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing of files by operators."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest


def test_an_interrupted_write_keeps_the_old_file_and_leaves_no_other(tcb_animation, tmp_path, monkeypatch):
    (tmp_path / "run.csv").write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        tcb_animation.operators.three_ds_and_tables.write_file(tmp_path / "run.csv", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("run.csv", b"old")]
