# SPDX-License-Identifier: GPL-3.0-or-later
"""Access through ctypes to lib3ds, an independent reader of .3ds files (Debian: lib3ds-1-3).

The structures match the headers node.h, tracks.h and tcb.h, version 1.3.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, Structure, Union, c_char, c_char_p, c_float, c_int, c_int32, c_uint16, c_uint32, c_void_p
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from formats import three_ds


class Tcb(Structure):
    _fields_ = [("frame", c_int32), ("flags", c_uint16), ("parameters", c_float * 5)]


def _track(*value: tuple[str, type]) -> type[Structure]:
    """Return the structure of a track whose keys have these fields after the parameters and the next key."""
    key = type("TrackKey", (Structure,), {})
    key._fields_ = [("tcb", Tcb), ("next", POINTER(key)), *value]
    return type("Track", (Structure,), {"_fields_": [("flags", c_uint32), ("keys", POINTER(key))]})


_LIN1, _LIN3 = (_track(("value", c_float * size)) for size in (1, 3))
_QUAT, _BOOL, _MORPH = _track(("axis", c_float * 3), ("angle", c_float)), _track(), _track(("name", c_char * 64))
_VECTOR = c_float * 3


class ObjectData(Structure):
    _fields_ = [
        ("pivot", _VECTOR),
        ("instance", c_char * 64),
        ("bounding_box", c_float * 6),
        ("pos", _VECTOR),
        ("POSITION", _LIN3),
        ("rot", c_float * 4),
        ("ROTATION", _QUAT),
        ("scl", _VECTOR),
        ("SCALE", _LIN3),
        ("morph_smooth", c_float),
        ("morph", c_char * 64),
        ("MORPH", _MORPH),
        ("hide", c_int32),
        ("HIDE", _BOOL),
    ]


class AmbientData(Structure):
    _fields_ = [("col", _VECTOR), ("COLOR", _LIN3)]


class CameraData(Structure):
    _fields_ = [
        ("pos", _VECTOR),
        ("POSITION", _LIN3),
        ("fov", c_float),
        ("FOV", _LIN1),
        ("roll", c_float),
        ("ROLL", _LIN1),
    ]


class TargetData(Structure):
    _fields_ = [("pos", _VECTOR), ("POSITION", _LIN3)]


class LightData(Structure):
    _fields_ = [
        ("pos", _VECTOR),
        ("POSITION", _LIN3),
        ("col", _VECTOR),
        ("COLOR", _LIN3),
        ("hotspot", c_float),
        ("HOTSPOT", _LIN1),
        ("falloff", c_float),
        ("FALLOFF", _LIN1),
        ("roll", c_float),
        ("ROLL", _LIN1),
    ]


class NodeData(Union):
    _fields_ = [
        ("ambient", AmbientData),
        ("object", ObjectData),
        ("camera", CameraData),
        ("target", TargetData),
        ("light", LightData),
    ]


class RawNode(Structure):
    _fields_ = [
        ("user", c_void_p),
        ("next", c_void_p),
        ("childs", c_void_p),
        ("parent", c_void_p),
        ("type", c_int),
        ("node_id", c_uint16),
        ("name", c_char * 64),
        ("flags", c_uint16 * 2),
        ("parent_id", c_uint16),
        ("matrix", c_float * 16),
        ("data", NodeData),
    ]


_DATA = {1: "ambient", 2: "object", 3: "camera", 4: "target", 5: "light", 6: "target"}


class Key(NamedTuple):
    frame: int
    flags: int
    parameters: list[float]
    value: list[float] | bytes


class Node(NamedTuple):
    name: bytes
    parent: int | None
    flags: list[int]
    pivot: list[float] | None
    instance_name: bytes | None
    tracks: dict[str, tuple[int, list[Key]]]


@contextmanager
def opened(path: Path) -> Iterator[tuple[ctypes.CDLL, int]]:
    """Open the file, and yield the library and the file. Skip the test if lib3ds is not installed."""
    name = ctypes.util.find_library("3ds-1")
    if name is None:
        pytest.skip("lib3ds is not installed (on Debian: apt-get install lib3ds-dev)")
    library = ctypes.CDLL(name)
    library.lib3ds_file_load.restype = c_void_p
    library.lib3ds_file_load.argtypes = [c_char_p]
    library.lib3ds_file_node_by_id.restype = POINTER(RawNode)
    library.lib3ds_file_node_by_id.argtypes = [c_void_p, c_uint16]
    library.lib3ds_file_eval.argtypes = [c_void_p, c_float]
    library.lib3ds_file_free.argtypes = [c_void_p]
    file = library.lib3ds_file_load(bytes(path))
    assert file, f"lib3ds can't read {path}"
    try:
        yield library, file
    finally:
        library.lib3ds_file_free(file)


def load(path: Path, ids: range) -> dict[int, Node]:
    """Return the nodes with these ids."""
    with opened(path) as (library, file):
        found = {ident: library.lib3ds_file_node_by_id(file, ident) for ident in ids}
        return {ident: _node(pointer.contents) for ident, pointer in found.items() if pointer}


def placed(path: Path, ident: int, frame: float) -> np.ndarray:
    """Return lib3ds's matrix of the node at a frame, shape (4, 4), for column vectors."""
    with opened(path) as (library, file):
        library.lib3ds_file_eval(file, frame)
        node = library.lib3ds_file_node_by_id(file, ident).contents
        return np.array(node.matrix[:]).reshape(4, 4).T


def _node(raw: RawNode) -> Node:
    data = getattr(raw.data, _DATA[raw.type])
    is_object = raw.type == 2
    tracks = {}
    for name, _ in data._fields_:
        if name.isupper():
            track = getattr(data, name)
            tracks[name] = (track.flags, list(_keys(track.keys)))
    return Node(
        raw.name,
        None if raw.parent_id == 0xFFFF else raw.parent_id,
        list(raw.flags),
        list(data.pivot) if is_object else None,
        data.instance if is_object else None,
        tracks,
    )


def _keys(pointer: ctypes._Pointer[Structure]) -> Iterator[Key]:
    while pointer:
        key = pointer.contents
        if hasattr(key, "angle"):
            value = [key.angle, *key.axis]
        elif hasattr(key, "name"):
            value = key.name
        else:
            value = list(key.value) if hasattr(key, "value") else []
        yield Key(key.tcb.frame, key.tcb.flags, list(key.tcb.parameters), value)
        pointer = key.next


def agrees_with_lib3ds(path: Path) -> int:
    """Compare every node and track of a file with lib3ds's, and return the number of keys compared."""
    scene = three_ds.read(path.read_bytes())
    ids = [index if node.node_id is None else node.node_id for index, node in enumerate(scene.nodes)]
    others = load(path, range(max(ids) + 1))
    assert sorted(others) == sorted(ids)
    keys = 0
    for ident, node in zip(ids, scene.nodes, strict=True):
        other = others[ident]
        assert (other.name, other.parent, tuple(other.flags)) == (node.name, node.parent, node.flags)
        if other.pivot is not None and node.pivot is not None:
            assert other.pivot == node.pivot.tolist()
        assert other.instance_name in (None, node.instance_name or b"")
        for kind, (flags, other_keys) in other.tracks.items():
            track = node.track(kind)
            assert (0 if track is None else track.flags) == flags
            if track is None:
                assert other_keys == []
                continue
            values = list(track.names) if kind == "MORPH" else track.values.tolist()
            rows = zip(
                track.frames.tolist(), track.key_flags.tolist(), track.parameters.T.tolist(), values, strict=True
            )
            assert other_keys == [*rows], (node.name, kind)
            keys += len(other_keys)
    return keys
