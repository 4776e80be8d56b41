# SPDX-License-Identifier: GPL-3.0-or-later
"""Hypothesis strategies for scenes of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from formats import three_ds

UNKNOWN = (0x0005, 0x4010, 0x4130, 0x7001, 0xAFFF, 0xB014)
words = st.integers(0, 0xFFFF)
longs = st.integers(0, 0xFFFFFFFF)
frames = st.integers(-(1 << 31), (1 << 31) - 1)
numbers = st.floats(width=32, allow_nan=False)
names = st.binary(max_size=12).map(lambda text: text.replace(b"\0", b"\xe9"))


def _optional(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | strategy


@st.composite
def floats(draw: Callable, *shape: int) -> np.ndarray:
    """Floats with any 32 bits, including infinities, and NaNs with any payload."""
    size = int(np.prod(shape)) * 4
    return np.frombuffer(draw(st.binary(min_size=size, max_size=size)), np.float32).reshape(shape)


@st.composite
def chunks(draw: Callable, parts: int) -> tuple[three_ds.Chunk, ...]:
    """Chunks that are not modeled, among a number of modeled chunks."""
    places = sorted(draw(st.lists(st.integers(0, parts), max_size=2)))
    contents = st.binary(max_size=8)
    return tuple(three_ds.Chunk(draw(st.sampled_from(UNKNOWN)), draw(contents), place) for place in places)


@st.composite
def tracks(draw: Callable) -> three_ds.Track:
    kind = draw(st.sampled_from(list(three_ds.TRACK_KINDS)))
    count = draw(st.integers(0, 4))
    flags = np.array(draw(st.lists(st.sampled_from([0, 0, 1, 31]) | words, min_size=count, max_size=count)), np.uint16)
    given = (flags >> np.arange(5)[:, np.newaxis] & 1).astype(bool)
    return three_ds.Track(
        kind,
        np.array(draw(st.lists(frames, min_size=count, max_size=count)), np.int32),
        draw(floats(count, three_ds.COMPONENTS[kind])),
        flags,
        np.where(given, draw(floats(5, count)), np.float32(0)),
        draw(words),
        draw(st.tuples(longs, longs)),
        tuple(draw(st.lists(names, min_size=count, max_size=count))) if kind == "MORPH" else (),
    )


@st.composite
def nodes(draw: Callable) -> three_ds.Node:
    values: dict[str, Any] = {
        "node_id": draw(_optional(words)),
        "pivot": draw(_optional(floats(3))),
        "instance_name": draw(_optional(names)),
    }
    kept = draw(st.lists(tracks(), max_size=3))
    parts = 1 + sum(value is not None for value in values.values()) + len(kept)
    return three_ds.Node(
        draw(st.sampled_from(list(three_ds.NODE_KINDS))),
        draw(names),
        draw(_optional(st.integers(0, 0xFFFE))),
        flags=draw(st.tuples(words, words)),
        tracks=tuple(kept),
        chunks=draw(chunks(parts)),
        **values,
    )


@st.composite
def keyframers(draw: Callable) -> three_ds.Keyframer:
    values: dict[str, Any] = {
        "header": draw(_optional(st.builds(three_ds.Header, words, names, frames))),
        "segment": draw(_optional(st.tuples(frames, frames))),
        "current_frame": draw(_optional(frames)),
    }
    kept = draw(st.lists(nodes(), max_size=3))
    parts = sum(value is not None for value in values.values()) + len(kept)
    return three_ds.Keyframer(tuple(kept), chunks=draw(chunks(parts)), **values)


@st.composite
def meshes(draw: Callable) -> three_ds.Mesh:
    vertices, mapped, faces = (draw(st.integers(0, 3)) for _ in range(3))
    face_chunks = draw(chunks(0))
    matrix = draw(_optional(floats(4, 3)))
    parts = bool(vertices) + bool(mapped) + (matrix is not None) + bool(faces or face_chunks)
    corners = st.lists(words, min_size=4 * faces, max_size=4 * faces)
    table = np.array(draw(corners), np.uint16).reshape(faces, 4)
    return three_ds.Mesh(
        draw(floats(vertices, 3)),
        table[:, :3],
        table[:, 3],
        draw(floats(mapped, 2)),
        matrix,
        draw(chunks(parts)),
        face_chunks,
    )


@st.composite
def cameras(draw: Callable) -> three_ds.Camera:
    return three_ds.Camera(draw(floats(3)), draw(floats(3)), draw(numbers), draw(numbers), draw(chunks(0)))


@st.composite
def spotlights(draw: Callable) -> three_ds.Spotlight:
    roll = draw(_optional(numbers))
    kept = draw(chunks(roll is not None))
    return three_ds.Spotlight(draw(floats(3)), draw(numbers), draw(numbers), roll, kept)


@st.composite
def lights(draw: Callable) -> three_ds.Light:
    values = draw(_optional(floats(3))), draw(_optional(numbers)), draw(_optional(spotlights()))
    return three_ds.Light(draw(floats(3)), *values, draw(chunks(sum(value is not None for value in values))))


@st.composite
def objects(draw: Callable) -> three_ds.Object:
    content = draw(_optional(meshes() | cameras() | lights()))
    return three_ds.Object(draw(names), content, draw(chunks(content is not None)))


@st.composite
def editors(draw: Callable) -> three_ds.Editor:
    version, scale = draw(_optional(longs)), draw(_optional(numbers))
    kept = draw(st.lists(objects(), max_size=3))
    parts = (version is not None) + (scale is not None) + len(kept)
    return three_ds.Editor(tuple(kept), version, scale, draw(chunks(parts)))


@st.composite
def scenes(draw: Callable) -> three_ds.Scene:
    values = draw(_optional(editors())), draw(_optional(keyframers())), draw(_optional(longs))
    return three_ds.Scene(*values, draw(chunks(sum(value is not None for value in values))))
