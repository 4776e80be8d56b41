# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the ids in a hierarchy of nodes to positions in the file, without cycles."""

from __future__ import annotations

from collections.abc import Sequence

from ..messages import n_


def find_parents(
    ids: Sequence[int | None], parents: Sequence[int | None]
) -> tuple[tuple[int | None, ...], list[tuple[int, str]]]:
    """Return the index of each node's parent, and errors as pairs of a node index and a message.

    Parameters
    ----------
    ids : sequence of int or None
        The ids of the nodes. A node without an id uses its index as its id.
    parents : sequence of int or None
        The id of each node's parent.

    Notes
    -----
    A node whose parent is missing has no parent. In a cycle of nodes, the first node in the file has no parent. If
    several nodes have the same id, the id refers to the first.
    """
    errors: list[tuple[int, str]] = []
    owners: dict[int, int] = {}
    for index, own in enumerate(ids):
        ident = index if own is None else own
        first = owners.setdefault(ident, index)
        if first != index:
            text = n_(
                "the id {:d} is also used by node {:d}, which becomes the parent of the children of {:d}",
                ident,
                first,
                ident,
            )
            errors.append((index, text))
    found: list[int | None] = []
    for index, parent in enumerate(parents):
        owner = None if parent is None else owners.get(parent)
        if parent is not None and owner is None:
            errors.append((index, n_("the parent, id {:d}, is not in the file. Imported without a parent", parent)))
        found.append(owner)
    circular = n_("the node is its own ancestor. Imported without a parent")
    errors += [(cut, circular) for cut in _cut(found)]
    return tuple(found), errors


def _cut(parents: list[int | None]) -> list[int]:
    """Remove the parent of the first node of each cycle, and return these nodes."""
    cut = []
    done = [False] * len(parents)
    for index in range(len(parents)):
        path: dict[int, None] = {}
        at: int | None = index
        while at is not None and not done[at] and at not in path:
            path[at] = None
            at = parents[at]
        if at in path:
            steps = list(path)
            first = min(steps[steps.index(at) :])
            parents[first] = None
            cut.append(first)
        for step in path:
            done[step] = True
    return cut
