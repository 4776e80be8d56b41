# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how long the import of a large 3D Studio file takes, with its bake, and its export.

    python tools/bench_import.py [--nodes 1000] [--keys 100] [--every 3] [--parameters] [--output SAMPLES]

Each node has so many keys in each of its tracks: position, rotation and scale. Needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb


def make_scene(three_ds: ModuleType, nodes: int, keys: int, every: int, with_parameters: bool) -> Any:
    """Make a scene of triangles, each with keys of its own."""
    rng = np.random.default_rng(1)
    frames = np.arange(0, keys * every, every, dtype=np.int32)
    flags = np.full(keys, 31 if with_parameters else 0, np.uint16)
    parameters = (rng.uniform(0, 0.5, (5, keys)) * with_parameters).astype(np.float32)
    face, visible, points = np.array([[0, 1, 2]], np.uint16), np.array([7], np.uint16), np.eye(3, dtype=np.float32)
    made, objects = [], []
    for number in range(nodes):
        name = b"N%05d" % number
        turns = np.column_stack((rng.uniform(0, 1, keys), rng.normal(size=(keys, 3))))
        values = {"POSITION": rng.normal(size=(keys, 3)), "ROTATION": turns, "SCALE": rng.uniform(0.5, 2, (keys, 3))}
        tracks = [three_ds.Track(kind, frames, v.astype(np.float32), flags, parameters) for kind, v in values.items()]
        made.append(three_ds.Node("OBJECT", name, node_id=number, tracks=tuple(tracks)))
        objects.append(three_ds.Object(name, three_ds.Mesh(points, face, visible)))
    keyframer = three_ds.Keyframer(tuple(made), segment=(0, int(frames[-1])))
    return three_ds.Scene(three_ds.Editor(tuple(objects)), keyframer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("nodes", 1000), ("keys", 100), ("every", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--parameters", action="store_true", help="every key has all five")
    parser.add_argument("--output", default="HANDLES", choices=["HANDLES", "SAMPLES", "CURVES", "NONE"])
    given = parser.parse_args()
    tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
    three_ds = importlib.import_module(f"{tcb.PACKAGE}.formats.three_ds")
    importing = importlib.import_module(f"{tcb.PACKAGE}.exchange.importing.importer")
    exporting = importlib.import_module(f"{tcb.PACKAGE}.exchange.exporting.exporter")
    data = three_ds.write(make_scene(three_ds, given.nodes, given.keys, given.every, given.parameters))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    context: Any = bpy.context
    start, busy = time.perf_counter(), time.process_time()
    files = {"bench": three_ds.read(data)}
    options = importing.ImportOptions(output=given.output)
    report = importing.import_files(files, context.scene, context.collection, options)
    imported, busy = time.perf_counter(), time.process_time() - busy
    scene, _ = exporting.export_scene(context.scene.objects, context.scene, exporting.ExportOptions())
    assert len(three_ds.write(scene)) > given.nodes
    exported = time.perf_counter()
    print(f"Blender {bpy.app.version_string}: imported {report.baked.counts}, in {imported - start:.1f} s")
    print(f"of which the processor worked {busy:.1f} s")
    print(f"exported in {exported - imported:.1f} s")


if __name__ == "__main__":
    main()
    tcb.end_process(0)
