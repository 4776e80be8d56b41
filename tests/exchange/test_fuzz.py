# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged files imported into Blender cause no traceback, and no wait without visible progress.

By default, 200 files are imported, and `.ci/run` imports 500. `TCB_FUZZ=5000 pytest tests/exchange/test_fuzz.py`
imports more. A file that fails is saved in build/fuzz/.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from formats import three_ds
from tests.exchange.scenes import SCENES, scene_with_everything, with_much_to_leave
from tests.formats.generated_scenes import TRACKS, make_files, make_scene
from tests.formats.mutations import mutate

FILES = int(os.environ.get("TCB_FUZZ", "200"))
SEED = 7
MOST = 400_000
"""Maximum number of Python and NumPy calls without progress. The largest number in 500 files is 47,000."""
FOLDER = Path(__file__).resolve().parents[2] / "build" / "fuzz"
RATES = ((24, 1.0), (1, 1.0), (1, 100.0), (240, 1.0))
"""Frame rates of scenes: frames per second, and the base that divides them."""
CHOICES: dict[str, tuple[str | float, ...]] = {
    "output": ("HANDLES", "SAMPLES", "CURVES", "NONE"),
    "target": ("CREATE", "CREATE", "MATCH"),
    "rotations": ("QUATERNION", "EULER"),
    "between": ("BY_FILE", "SQUAD"),
    "timing": ("FRAMES", "TIME"),
    "frame_rate": (1.0, 30.0, 30.0, 1000.0),
    "frame_start": (0.0, 0.0, 0.5, -1e6, 1e6),
    "axis_up": ("Z", "Z", "Y"),
}


def make_all_seeds() -> list[bytes]:
    """Return the seed files of the reader's fuzz test, and files with complete node hierarchies as from the editor."""
    rng = np.random.default_rng(SEED)
    kinds = list(TRACKS)
    scenes = [make() for make in SCENES.values()] + [scene_with_everything(), with_much_to_leave()]
    scenes += [make_scene(rng, [kinds[at] for at in rng.integers(0, len(kinds), 5)], True) for _ in range(5)]
    return [*make_files(rng), *(three_ds.write(each) for each in scenes)]


class Waiting:
    """A replacement for the operator's progress, which counts function calls between visible steps."""

    def __init__(self) -> None:
        self.most = self.calls = 0

    def profile(self, _frame: FrameType, event: str, _argument: object) -> None:
        self.calls += event in ("call", "c_call")

    def __call__(self, *_: object) -> None:
        self.most, self.calls = max(self.most, self.calls), 0

    close = __call__


def harm(path: Path, options: dict[str, Any], importing: ModuleType, monkeypatch: pytest.MonkeyPatch) -> str:
    """Import the file. Return a description of the failure, or an empty value."""
    waiting = Waiting()
    monkeypatch.setattr(importing, "Progress", lambda *_: waiting)
    forward = "-Z" if options["axis_up"] == "Y" else "Y"
    sys.setprofile(waiting.profile)
    try:
        bpy.ops.import_anim.tcb_3ds(filepath=str(path), axis_forward=forward, **options)
    except RuntimeError as error:
        if "Traceback" in str(error):
            return str(error)
    finally:
        sys.setprofile(None)
    waiting.close()
    return f"{waiting.most:,} calls without progress" if waiting.most > MOST else ""


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_damaged_files_are_imported_without_harm(scene, tcb_animation, monkeypatch, tmp_path: Path) -> None:
    importing = importlib.import_module(f"{tcb_animation.__name__}.operators.three_ds_and_tables")
    seeds = make_all_seeds()
    path = tmp_path / "damaged.3ds"
    failed = []
    for number in range(FILES):
        rng = random.Random(f"{SEED} {number}")
        path.write_bytes(mutate(rng, rng.choice(seeds), seeds))
        options = {name: rng.choice(choices) for name, choices in CHOICES.items()}
        # Imported objects remain for a while, so that later imports can match them.
        if number % 10 == 0:
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = rng.choice(RATES)
        reason = harm(path, options, importing, monkeypatch)
        if reason:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.rename(FOLDER / f"import-{SEED}-{number}.3ds")
            failed.append((number, options, reason))
    if failed:
        pytest.fail("\n".join(f"{number} {options}: {reason}" for number, options, reason in failed))
