# SPDX-License-Identifier: GPL-3.0-or-later
"""The contents of a chunk, read by a layout. Nested chunks that cannot be read are skipped with a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..interp import n_
from .errors import ChunkError
from .idents import chunk_name
from .scene import Chunk
from .source import Source, Span


@dataclass(frozen=True, slots=True)
class ChunkReader:
    """The reader of a kind of chunk."""

    read: Callable[[Source, Span], Any]
    field: str = ""
    """The attribute of the parent, or "" for chunks that may repeat."""
    is_container: bool = False
    """True if the chunk contains other chunks."""


Layout = Mapping[int, ChunkReader]
"""The readers of the chunks that a chunk may contain, by number."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a chunk: unique parts by field, repeated parts, and chunks that are not modeled."""

    values: dict[str, Any]
    repeated: tuple[Any, ...]
    chunks: tuple[Chunk, ...]


def read_contents(source: Source, parent: Span, start: int, layout: Layout) -> Contents:
    """Read the chunks that are nested in a chunk, starting at `start`."""
    values: dict[str, Any] = {}
    repeated: list[Any] = []
    chunks: list[Chunk] = []
    for span in source.chunks(parent, start):
        reader = layout.get(span.ident)
        is_container = reader is not None and reader.is_container
        if span.missing:
            # If the file ends early, every chunk around the end is too long. Warn once, about the lost part.
            if not (is_container and parent.missing):
                _warn_too_long(source, span, parent, is_container)
            if not is_container:
                continue
        if reader is None:
            chunks.append(Chunk(span.ident, source.data[span.body : span.end], len(values) + len(repeated)))
            continue
        if reader.field in values:
            text = n_("{:s} occurs a second time and was skipped", chunk_name(span.ident))
            # A second container has data of its own, which is lost. A second number is only unusual.
            source.warn(span.start, text, lost=is_container)
            continue
        try:
            value = reader.read(source, span)
        except ChunkError as error:
            text = n_("{:s} {:s}. It was skipped", chunk_name(span.ident), error.message)
            source.warn(error.offset, text, lost=True)
            continue
        if reader.field and value is not None:
            values[reader.field] = value
        elif value is not None:
            repeated.append(value)
    return Contents(values, tuple(repeated), tuple(chunks))


def _warn_too_long(source: Source, span: Span, parent: Span, is_read_in_part: bool) -> None:
    """Warn about a chunk that extends beyond the end of its parent."""
    available = span.end - span.start
    numbers = chunk_name(span.ident), available + span.missing, chunk_name(parent.ident), available
    if is_read_in_part:
        text = n_("{:s} declares {:d} bytes, but {:s} ends after {:d}. The existing bytes were read", *numbers)
    else:
        text = n_("{:s} declares {:d} bytes, but {:s} ends after {:d}. It was skipped", *numbers)
    source.warn(span.start, text, lost=True)
