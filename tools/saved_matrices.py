# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold what Blender plays of .3ds files against the matrices that 3ds Max saved in them.

    python tools/saved_matrices.py FILE…

A file of 3ds Max says at which frame it was saved, and where each mesh was then: by Max's own interpolation. Each file
is imported twice, with rotations between keys as 3D Studio 4 has them and as Max has them, baked as samples, and looked
at in that frame. A row a file: how many meshes stood between keys of a rotation, and how far their axes are off, in
degrees, median and largest, each way; then how far their places are off in the median, of the distance from the origin.
Needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from formats import three_ds
from tools import tcb
from tools.bench_report import number, table

WAYS = ("DE_CASTELJAU", "SQUAD")
TICKS = 160
"""A frame of 3ds Max, in which it says at which frame it saved."""
Float64Array = npt.NDArray[np.float64]


def saved_at(scene: three_ds.Scene) -> float:
    """The frame at which the file was saved; NaN where it does not say it."""
    keyframer = scene.keyframer
    if keyframer is None or keyframer.current_frame is None or keyframer.header is None:
        return float("nan")
    return keyframer.current_frame / (TICKS if keyframer.header.name == b"MAXSCENE" else 1)


def saved_matrices(scene: three_ds.Scene, frame: float) -> dict[str, Float64Array]:
    """The matrix, shape (4, 4), of each mesh whose node turns there from one key to another; by the object's name."""
    meshes = {item.name: item.content for item in scene.objects if isinstance(item.content, three_ds.Mesh)}
    result = {}
    for node in scene.nodes:
        mesh, track = meshes.get(node.name), node.track("ROTATION")
        if mesh is None or mesh.matrix is None or node.instance_name or track is None or len(track.frames) < 2:
            continue
        if track.frames[0] < frame < track.frames[-1] and frame not in track.frames:
            matrix = np.eye(4)
            # Rows of the file are the images of the axes and of the origin.
            matrix[:3] = np.asarray(mesh.matrix, dtype=np.float64).T
            result[node.name.decode("latin-1")] = matrix
    return result


def off(found: Float64Array, saved: Float64Array) -> tuple[float, float]:
    """How far the axes differ, in degrees, and the origins, over the distance from that of the world."""
    turn = unscaled(found) @ unscaled(saved).T
    # Of small angles the skew part tells more than the trace.
    skew = np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    angle = np.degrees(np.arctan2(skew, np.trace(turn) - 1.0))
    place = np.linalg.norm(found[:3, 3] - saved[:3, 3]) / max(1.0, float(np.linalg.norm(saved[:3, 3])))
    return float(angle), float(place)


def unscaled(matrix: Float64Array) -> Float64Array:
    """The nearest rotation, a mirror taken away."""
    left, _, right = np.linalg.svd(matrix[:3, :3])
    turn = left @ right
    rotation: Float64Array = turn * np.sign(np.linalg.det(turn))
    return rotation


def compare(path: Path) -> tuple[str, ...]:
    """Return the row of a file."""
    scene = three_ds.read(path.read_bytes())
    frame = saved_at(scene)
    saved = {} if np.isnan(frame) or frame % 1 else saved_matrices(scene, frame)
    if not saved:
        return (path.name, "" if np.isnan(frame) else f"{frame:g}", "0", *[""] * 6)
    columns = []
    for way in WAYS:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        importers: Any = bpy.ops.import_anim
        importers.tcb_3ds(filepath=str(path), output="SAMPLES", between=way)
        blender_scene: Any = bpy.context.scene
        blender_scene.frame_set(int(frame))
        objects: Any = bpy.data.objects
        errors = np.array([off(np.array(objects[name].matrix_world), matrix) for name, matrix in saved.items()])
        columns.append((*np.median(errors, axis=0), *errors.max(axis=0)))
    angles = [number(float(column[row])) for column in columns for row in (0, 2)]
    places = [number(float(column[1])) for column in columns]
    return (path.name, f"{frame:g}", f"{len(saved)}", *angles, *places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    files = parser.parse_args().files
    tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)]).register()
    heads = ("file", "saved at", "meshes", "3D Studio 4: median", "largest", "3ds Max: median", "largest")
    print(table((*heads, "places, 3D Studio 4", "places, 3ds Max"), [compare(path) for path in files]))
    tcb.end_process(0)


if __name__ == "__main__":
    main()
