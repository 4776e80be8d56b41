# SPDX-License-Identifier: GPL-3.0-or-later
"""Select tracks by path prefix or by whole path."""

from __future__ import annotations

from collections.abc import Callable, Iterable


class WholePath(str):
    """The path of one track, given in place of a path prefix. As a prefix, the path `size` would match `size_y` too."""


def path_filter(prefixes: Iterable[str] | None) -> Callable[[str], bool]:
    """Return a function that checks whether a path starts with one of the prefixes, or equals a whole path among them.

    If `prefixes` is None, all paths pass the check.
    """
    chosen = ("",) if prefixes is None else tuple(prefixes)
    whole_paths = {path for path in chosen if isinstance(path, WholePath)}
    starts = tuple(prefix for prefix in chosen if not isinstance(prefix, WholePath))
    return lambda path: path in whole_paths or path.startswith(starts)
