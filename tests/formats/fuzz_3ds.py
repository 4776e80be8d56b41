# SPDX-License-Identifier: GPL-3.0-or-later
"""Read many damaged 3D Studio files, and check that they cause nothing worse than an error or a warning.

    python tests/formats/fuzz_3ds.py [FILE…] [--inputs 1000000] [--seed 1]

Each input is a generated scene or a given file, with some bytes changed, removed, added or replaced. Reading an input
may raise only `ThreeDSError`. If a scene was read, it must be the same after it is written and read again. An input
also fails if it takes more than two seconds of processor time, or more than 200 MB of additional memory. A failed input
is saved in build/fuzz/ and ends the run with status 1. Linux only.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import resource
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from formats import three_ds

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 2.0
"""Maximum processor time per input, in seconds."""
MEMORY = 200 << 20
"""Maximum additional memory for reading, in bytes."""
TRACKS = {
    "OBJECT": ("POSITION", "ROTATION", "SCALE", "MORPH", "HIDE"),
    "CAMERA": ("POSITION", "FOV", "ROLL"),
    "CAMERA_TARGET": ("POSITION",),
    "LIGHT": ("POSITION", "COLOR"),
    "SPOTLIGHT": ("POSITION", "COLOR", "HOTSPOT", "FALLOFF", "ROLL"),
    "LIGHT_TARGET": ("POSITION",),
    "AMBIENT": ("COLOR",),
}
STRANGE = (
    0,
    1,
    5,
    6,
    7,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x7FC00000,
)
"""Numbers that replace lengths, counts, frames and floats."""


def same(first: Any, second: Any) -> bool:
    """Return whether two scenes, or parts of them, are equal bit for bit. Warnings are not compared."""
    if type(first) is not type(second):
        return False
    if dataclasses.is_dataclass(first):
        names = [field.name for field in dataclasses.fields(first) if field.name != "warnings"]
        return all(same(getattr(first, name), getattr(second, name)) for name in names)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, np.ndarray):
        return (first.dtype, first.shape, first.tobytes()) == (second.dtype, second.shape, second.tobytes())
    if isinstance(first, float):
        return struct.pack("d", first) == struct.pack("d", second)
    return bool(first == second)


def make_track(rng: np.random.Generator, kind: str) -> three_ds.Track:
    """Make a track of a few random keys, with or without parameters."""
    count = int(rng.integers(0, 5))
    flags = rng.integers(0, 32, count) if rng.random() < 0.5 else np.full(count, rng.choice([0, 31]))
    parameters = rng.random((5, count)) * (flags >> np.arange(5)[:, np.newaxis] & 1)
    return three_ds.Track(
        kind,
        np.sort(rng.integers(-5, 100, count)).astype(np.int32),
        rng.normal(size=(count, three_ds.COMPONENTS[kind])).astype(np.float32),
        flags.astype(np.uint16),
        parameters.astype(np.float32),
        flags=int(rng.integers(0, 0x800)),
        reserved=(0, 100),
        names=tuple(rng.bytes(int(rng.integers(0, 4))).replace(b"\0", b"a") for _ in range(count))
        if kind == "MORPH"
        else (),
    )


def make_node(rng: np.random.Generator, kind: str, index: int, with_ids: bool) -> three_ds.Node:
    """Make a node with the tracks of its kind. Its parent, if any, is an earlier node."""
    return three_ds.Node(
        kind,
        b"Node%d" % index,
        int(rng.integers(0, index)) if index and rng.random() < 0.5 else None,
        index if with_ids else None,
        pivot=rng.normal(size=3).astype(np.float32) if kind == "OBJECT" else None,
        instance_name=b"again" if rng.random() < 0.2 else None,
        tracks=tuple(make_track(rng, track) for track in TRACKS[kind]),
        chunks=(three_ds.Chunk(0xB014, rng.bytes(24), 2),) if rng.random() < 0.2 else (),
    )


def make_objects(rng: np.random.Generator) -> tuple[three_ds.Object, ...]:
    """Make a mesh, a camera, a light and a spotlight."""

    def floats(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    mesh = three_ds.Mesh(
        floats(3, 3),
        np.array([[0, 1, 2]], np.uint16),
        np.array([7], np.uint16),
        floats(3, 2),
        floats(4, 3),
        (three_ds.Chunk(0x4111, rng.bytes(8), 1),),
        (three_ds.Chunk(0x4130, b"Stone\0\1\0\0\0"),),
    )
    spotlight = three_ds.Light(floats(3), floats(3), 1.5, three_ds.Spotlight(floats(3), 40.0, 45.0, 0.0))
    return (
        three_ds.Object(b"Mesh", mesh, (three_ds.Chunk(0x4010, b""),)),
        three_ds.Object(b"Camera", three_ds.Camera(floats(3), floats(3))),
        three_ds.Object(b"Light", three_ds.Light(floats(3))),
        three_ds.Object(b"Spot", spotlight),
    )


def make_scene(rng: np.random.Generator, kinds: Sequence[str], with_objects: bool) -> three_ds.Scene:
    """Make a small scene with a node of each of these kinds."""
    with_ids = bool(rng.integers(0, 2))
    nodes = tuple(make_node(rng, kind, index, with_ids) for index, kind in enumerate(kinds))
    keyframer = three_ds.Keyframer(nodes, three_ds.Header(5, b"FUZZ", 100), (0, 100), 0)
    editor = three_ds.Editor(make_objects(rng), chunks=(three_ds.Chunk(0xAFFF, rng.bytes(20), 1),))
    return three_ds.Scene(editor if with_objects else None, keyframer)


def make_seeds(rng: np.random.Generator) -> list[bytes]:
    """Make the files from which inputs are created. Most files are small, so a change is likely to matter."""
    kinds = list(TRACKS)
    small = [make_scene(rng, [kind], False) for kind in kinds for _ in range(3)]
    scenes = [*small, make_scene(rng, [], True), make_scene(rng, kinds, True)]
    return [three_ds.write(scene) for scene in scenes]


def change(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Return the bytes of a file with one to four changes."""
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        rng.choice(CHANGES)(rng, data, at, others)
    return bytes(data)


def set_byte(rng: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    data[at : at + 1] = bytes([rng.randrange(256)])


def set_number(rng: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    size = rng.choice((2, 4))
    data[at : at + size] = (rng.choice(STRANGE) % (1 << 8 * size)).to_bytes(size, "little")


def set_length(rng: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    """Change a number slightly if its upper half is 0, as in the length of a chunk."""
    at = data.find(b"\0\0", at)
    if at >= 2:
        length = int.from_bytes(data[at - 2 : at + 2], "little")
        data[at - 2 : at + 2] = (max(0, length + rng.randint(-8, 8))).to_bytes(4, "little")


def cut_off(_: random.Random, data: bytearray, at: int, __: Sequence[bytes]) -> None:
    del data[at:]


def lose(rng: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    del data[at : at + rng.randrange(1, 40)]


def add(rng: random.Random, data: bytearray, at: int, others: Sequence[bytes]) -> None:
    """Insert part of another file."""
    other = rng.choice(others)
    start = rng.randrange(len(other))
    data[at:at] = other[start : start + rng.randrange(1, 200)]


def replace(rng: random.Random, data: bytearray, at: int, others: Sequence[bytes]) -> None:
    """Overwrite bytes with part of another file."""
    other = rng.choice(others)
    start = rng.randrange(len(other))
    piece = other[start : start + rng.randrange(1, 60)]
    data[at : at + len(piece)] = piece


CHANGES: tuple[Callable[[random.Random, bytearray, int, Sequence[bytes]], None], ...] = (
    set_byte,
    set_number,
    set_length,
    cut_off,
    lose,
    add,
    replace,
)


def judge(data: bytes) -> str:
    """Read an input and return the outcome: read, with warnings, or rejected. Raise an exception in all other cases."""
    try:
        scene = three_ds.read(data)
    except three_ds.ThreeDSError as error:
        if error.offset is None or not 0 <= error.offset <= len(data):
            raise AssertionError(f"the error is at byte {error.offset} of {len(data)}") from error
        return "refused"
    for warning in scene.warnings:
        if not 0 <= warning.offset <= len(data):
            raise AssertionError(f"a warning is at byte {warning.offset} of {len(data)}: {warning}")
    if scene.keyframer is not None:
        check_parents(scene.keyframer.parents())
    if not same(scene, three_ds.read(three_ds.write(scene))):
        raise AssertionError("what was read, written and read again is not the same")
    return "read with warnings" if scene.warnings else "read"


def check_parents(parents: Sequence[int | None]) -> None:
    """Check that no node is its own ancestor."""
    for index in range(len(parents)):
        at: int | None = index
        for _ in parents:
            at = None if at is None else parents[at]
        if at is not None:
            raise AssertionError(f"node {index} hangs from itself")


def too_long(_: int, __: object) -> NoReturn:
    raise TimeoutError(f"took more than {LONGEST} s")


def address_space() -> int:
    """Return the size of this process's address space, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def run(seeds: Sequence[bytes], inputs: int, number: int) -> int:
    """Test a number of inputs, print the outcomes, and return the exit status."""
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    begin = time.monotonic()
    signal.signal(signal.SIGPROF, too_long)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + MEMORY, resource.RLIM_INFINITY))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for index in range(inputs):
        rng = random.Random(f"{number} {index}")
        data = change(rng, rng.choice(seeds), seeds)
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        start = time.process_time()
        try:
            outcomes[judge(data)] += 1
        except Exception:
            signal.setitimer(signal.ITIMER_PROF, 0)
            traceback.print_exc()
            path = ROOT / "build" / "fuzz" / f"{number}-{index}.3ds"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"input {index} of seed {number} failed; it is saved in {path}")
            return 1
        signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, time.process_time() - start)
    seconds = time.monotonic() - begin
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{inputs} inputs in {seconds:.0f} s: " + ", ".join(f"{count} {name}" for name, count in outcomes.items()))
    print(f"slowest {1e3 * slowest:.1f} ms, memory grew by {grown:.1f} MB")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="files to change, beside the scenes made here"
    )
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1, help="another seed makes other inputs")
    options = parser.parse_args()
    seeds = make_seeds(np.random.default_rng(options.seed))
    seeds += [path.read_bytes() for path in options.files]
    return run(seeds, options.inputs, options.seed)


if __name__ == "__main__":
    raise SystemExit(main())
