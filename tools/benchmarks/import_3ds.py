# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the time for importing a large 3D Studio file, including its bake, and for exporting it.

Each node has keys in each of its tracks: position, rotation and scale.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import bpy
import numpy as np

from tools.benchmarks.checkout import module

three_ds = module("formats.three_ds")
importing, exporting = module("exchange.importing.importer"), module("exchange.exporting.exporter")


def make_scene(nodes: int, keys: int, every: int, with_parameters: bool) -> Any:
    """Create a scene of triangles with separate keys."""
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


def add_options(parser: argparse.ArgumentParser) -> None:
    for name, default in (("nodes", 1000), ("keys", 100), ("every", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--parameters", action="store_true", help="every key has all five")
    parser.add_argument("--output", default="HANDLES", choices=["HANDLES", "SAMPLES", "CURVES", "NONE"])


def run(options: argparse.Namespace) -> None:
    data = three_ds.write(make_scene(options.nodes, options.keys, options.every, options.parameters))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    context: Any = bpy.context
    start, busy = time.perf_counter(), time.process_time()
    files = {"bench": three_ds.read(data)}
    how = importing.ImportOptions(output=options.output)
    report = importing.import_files(files, context.scene, context.collection, how)
    imported, busy = time.perf_counter(), time.process_time() - busy
    scene, _ = exporting.export_scene(context.scene.objects, context.scene, exporting.ExportOptions())
    assert len(three_ds.write(scene)) > options.nodes
    exported = time.perf_counter()
    print(f"Blender {bpy.app.version_string}: imported {report.baked.counts}, in {imported - start:.1f} s")
    print(f"of which the processor worked {busy:.1f} s")
    print(f"exported in {exported - imported:.1f} s")
