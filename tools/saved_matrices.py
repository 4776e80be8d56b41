# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Blender's playback of .3ds files with the matrices that 3ds Max saved in them.

    python tools/saved_matrices.py FILE…

A 3ds Max file contains the current frame and the matrix of each mesh at that frame, by Max's own interpolation. Each
file is imported twice, with the rotation algorithms of 3D Studio 4 and of Max, baked as samples, and evaluated at that
frame. The table has one row per file. It lists the number of meshes between keys of a rotation, and the median and
maximum error of their axes in degrees for both algorithms. It also lists the number of meshes between keys of any kind,
and the median error of their locations relative to the distance from the origin. The last column counts the meshes at a
key or outside all keys, which cannot be compared. The script needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from formats import three_ds
from tools import tcb
from tools.benchmarks.checkout import animation, package
from tools.scene_matrices import angles_between
from tools.tables import number, table

ALGORITHMS = ("DE_CASTELJAU", "SQUAD")
"""The rotation algorithms of 3D Studio 4 and of 3ds Max."""
HEADS = (
    *("file", "saved at", "turning", "3D Studio 4: median", "largest", "3ds Max: median", "largest"),
    *("moving", "places, 3D Studio 4", "places, 3ds Max", "others"),
)
TICKS = 160
"""The unit of the saved frame in files of 3ds Max."""
MOST_PARTS = 64
"""The maximum number of samples per frame."""
Float64Array = npt.NDArray[np.float64]


def saved_at(scene: three_ds.Scene) -> float:
    """Return the frame at which the file was saved, or NaN if unknown."""
    keyframer = scene.keyframer
    if keyframer is None or keyframer.current_frame is None or keyframer.header is None:
        return float("nan")
    return keyframer.current_frame / (TICKS if keyframer.header.name == b"MAXSCENE" else 1)


@dataclass(frozen=True)
class Saved:
    """The matrix of a mesh when its file was saved."""

    matrix: Float64Array
    """The matrix, shape (4, 4)."""
    is_rotating: bool
    """True if the frame is between two rotation keys, rather than between position or scale keys."""


def saved_matrices(scene: three_ds.Scene, frame: float) -> tuple[dict[str, Saved], int]:
    """Return the meshes whose nodes were between keys at that frame, by name, and the number of other meshes.

    Instances are omitted, because the file contains only the matrix of the first node of a mesh.
    """
    meshes = {item.name: item.content for item in scene.objects if isinstance(item.content, three_ds.Mesh)}
    result = {}
    for node in scene.nodes:
        mesh = meshes.get(node.name)
        if mesh is None or mesh.matrix is None or node.instance_name:
            continue
        between = [kind for kind in ("ROTATION", "POSITION", "SCALE") if is_between(node.track(kind), frame)]
        if between:
            matrix = np.eye(4)
            # The rows in the file are the images of the axes and of the origin.
            matrix[:3] = np.asarray(mesh.matrix, dtype=np.float64).T
            result[node.name.decode("latin-1")] = Saved(matrix, "ROTATION" in between)
    return result, len(meshes) - len(result)


def is_between(track: three_ds.Track | None, frame: float) -> bool:
    """Return whether the frame is between two keys of the track and not at a key."""
    return (
        track is not None
        and len(track.frames) > 1
        and bool(track.frames[0] < frame < track.frames[-1])
        and frame not in track.frames
    )


def compare(path: Path) -> tuple[str, ...]:
    """Return the row of a file."""
    scene = three_ds.read(path.read_bytes())
    frame = saved_at(scene)
    if np.isnan(frame):
        return (path.name, *[""] * (len(HEADS) - 1))
    saved, other_count = saved_matrices(scene, frame)
    are_rotating = [mesh.is_rotating for mesh in saved.values()]
    angles, locations = [""] * 4, [""] * 2
    if saved:
        errors = [errors_of(path, frame, saved, algorithm) for algorithm in ALGORITHMS]
        locations = [number(float(np.median(location_errors))) for _, location_errors in errors]
        if any(are_rotating):
            rotating = [angle_errors[are_rotating] for angle_errors, _ in errors]
            angles = [number(float(figure)) for each in rotating for figure in (np.median(each), each.max())]
    counts = str(sum(are_rotating)), str(len(saved)), str(other_count)
    return (path.name, f"{frame:g}", counts[0], *angles, counts[1], *locations, counts[2])


def errors_of(
    path: Path, frame: float, saved: Mapping[str, Saved], algorithm: str
) -> tuple[Float64Array, Float64Array]:
    """Import the file with a rotation algorithm, and return the errors of the meshes, shape (meshes,).

    The first errors are of axes, in degrees. The second errors are of origins, relative to the distance from the
    world's origin.
    """
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    operators: Any = bpy.ops
    operators.import_anim.tcb_3ds(filepath=str(path), output="NONE", between=algorithm)
    objects: Any = bpy.data.objects
    for item in objects:
        if item.animation_data is not None and item.animation_data.action is not None:
            # Ensure that there is a sample at the frame.
            animation.bake(item, step=1.0 / Fraction(frame).limit_denominator(MOST_PARTS).denominator)
    scene: Any = bpy.context.scene
    scene.frame_set(int(frame), subframe=frame % 1)
    played = np.array([objects[name].matrix_world for name in saved])
    expected = np.array([mesh.matrix for mesh in saved.values()])
    distances = np.maximum(1.0, np.linalg.norm(expected[:, :3, 3], axis=1))
    origin_errors = np.linalg.norm(played[:, :3, 3] - expected[:, :3, 3], axis=1) / distances
    return angles_between(played, expected), origin_errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    files = parser.parse_args().files
    package.register()
    print(table(HEADS, [compare(path) for path in files]))
    tcb.end_process(0)


if __name__ == "__main__":
    main()
