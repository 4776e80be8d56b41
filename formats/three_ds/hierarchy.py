# SPDX-License-Identifier: GPL-3.0-or-later
"""The parents of nodes, found by the ids in a .3ds file."""

from __future__ import annotations

from collections.abc import Sequence

from ..interp import n_


def find_parents(
    ids: Sequence[int | None], parents: Sequence[int | None]
) -> tuple[tuple[int | None, ...], list[tuple[int, str]]]:
    """Return the index of each node's parent, and errors as pairs of a node index and a message.

    `ids` contains the ids of the nodes, and `parents` the ids of their parents. A node without an id uses its index as
    its id. A node whose parent is missing becomes a root. In a cycle of nodes, the first node in the file has no
    parent. If several nodes have the same id, the id refers to the first.
    """
    errors: list[tuple[int, str]] = []
    index_of_id: dict[int, int] = {}
    for index, node_id in enumerate(ids):
        ident = index if node_id is None else node_id
        first = index_of_id.setdefault(ident, index)
        if first != index:
            text = n_(
                "the id {:d} is also used by node {:d}, which becomes the parent of the children of {:d}",
                ident,
                first,
                ident,
            )
            errors.append((index, text))
    parent_indices: list[int | None] = []
    for index, parent in enumerate(parents):
        parent_index = None if parent is None else index_of_id.get(parent)
        if parent is not None and parent_index is None:
            errors.append((index, n_("the parent, id {:d}, is not in the file. Imported without a parent", parent)))
        parent_indices.append(parent_index)
    circular = n_("the node is its own ancestor. Imported without a parent")
    errors += [(node, circular) for node in _break_cycles(parent_indices)]
    return tuple(parent_indices), errors


def _break_cycles(parents: list[int | None]) -> list[int]:
    """Remove the parent of the first node of each cycle, and return these nodes."""
    nodes_without_parent = []
    is_done = [False] * len(parents)
    for start in range(len(parents)):
        path: dict[int, None] = {}
        node: int | None = start
        while node is not None and not is_done[node] and node not in path:
            path[node] = None
            node = parents[node]
        if node in path:
            ancestors = list(path)
            first = min(ancestors[ancestors.index(node) :])
            parents[first] = None
            nodes_without_parent.append(first)
        for ancestor in path:
            is_done[ancestor] = True
    return nodes_without_parent
