# SPDX-License-Identifier: GPL-3.0-or-later
"""Import every .3ds file of a folder into an empty scene, and print its deviation from an independent composition.

python tools/imported_3ds.py FOLDER
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from formats import three_ds
from tests.exchange.composition import Composition
from tests.exchange.matrices import apart
from tools import tcb

HEADS = ("file", "nodes", "tracks", "keys", "with parameters", "at keys", "between keys", "vertices")


def row(path: Path) -> tuple[str, ...]:
    """Return the counts of the file and the maximum errors of matrices, and of vertices relative to their size."""
    exchange, planning, package = (
        importlib.import_module(f"{tcb.PACKAGE}.{name}")
        for name in ("exchange.importing.importer", "exchange.importing.plan_objects", "formats.three_ds")
    )
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    context: Any = bpy.context
    files = {path.name: package.read(path.read_bytes())}
    report = exchange.import_files(files, context.scene, context.collection, exchange.ImportOptions())
    read = three_ds.read(path.read_bytes())
    composition = Composition(read)
    frames = composition.key_frames()
    at_keys = between = vertices = 0.0
    for frame in range(frames[0], frames[-1] + 1):
        context.scene.frame_set(frame)
        depsgraph = context.evaluated_depsgraph_get()
        for index, node in enumerate(read.nodes):
            item = bpy.data.objects[planning.node_name(node)]
            found = np.array(item.evaluated_get(depsgraph).matrix_world)
            error = apart(found, composition.world(index, frame))
            if frame in frames:
                at_keys = max(at_keys, error)
            else:
                between = max(between, error)
            if frame == frames[-1] and item.type == "MESH":
                points = np.array([found @ (*vertex.co, 1.0) for vertex in item.data.vertices])[:, :3]
                expected = composition.vertices(index, frame)
                vertices = max(vertices, float(np.abs(points - expected).max() / np.abs(expected).max()))
    counts = report.found
    numbers = (len(read.nodes), counts["track"], counts["key"], counts["key_with_parameters"])
    return path.name, *map(str, numbers), *(f"{error:.1e}" for error in (at_keys, between, vertices))


def main(folder: Path) -> None:
    tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
    rows = [row(path) for path in sorted(folder.iterdir()) if path.suffix.lower() == ".3ds"]
    print(f"Blender {bpy.app.version_string}")
    for cells in (HEADS, ["---"] * len(HEADS), *rows):
        print("| " + " | ".join(cells) + " |")
    tcb.end_process(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
