# SPDX-License-Identifier: GPL-3.0-or-later
"""Which edits are kept: the table's named ones, and a seeded sample of random pairs between two bakes.

`TCB_PAIRS=5000 pytest tests/animation/test_edit_pairs.py` does more pairs than these 20; `.ci/run` does 80, others
with each Blender.
`python tools/edits.py pairs --case 0/123` shows one.
"""

from __future__ import annotations

import os
from types import ModuleType

import bpy
import pytest

from tools.edit_judge import COUNTED
from tools.edit_pairs import Result, Stage, run_pair
from tools.edit_table import CELLS, NAMED, Row, run_row

PAIRS = int(os.environ.get("TCB_PAIRS", "20"))
SEED = int("{}{}".format(*bpy.app.version))
"""Another with each Blender, so that a run with several of them does more pairs."""
# Each row in each cell, in one of its modes: of a row each mode comes in some cells, in a cell each mode for some rows.
CASES = [
    (row, row.modes[(above + left) % len(row.modes)], cell)
    for above, row in enumerate(row for row in NAMED if not row.known)
    for left, cell in enumerate(CELLS)
]


@pytest.fixture(scope="module")
def stage(tcb_animation: ModuleType) -> Stage:
    """One file for all cases: to make its templates takes half of the time of a case."""
    return Stage(tcb_animation.animation)


@pytest.mark.parametrize(("row", "mode", "cell"), CASES, ids=[f"{row.name}-{mode}-{cell}" for row, mode, cell in CASES])
def test_own_keys_are_kept_through_a_named_edit(stage: Stage, row: Row, mode: str, cell: str) -> None:
    found = run_row(stage, row, mode, *CELLS[cell])
    assert found["verdict"] not in COUNTED, (found["texts"][:5], found["notes"])


def _counted(results: list[Result]) -> list[tuple[object, ...]]:
    return [
        (each.case, str(each.setting), each.story, each.error or each.verdict.texts[0])
        for each in results
        if each.worst in COUNTED
    ]


def test_no_own_key_is_lost_through_one_edit(stage: Stage) -> None:
    results = [run_pair(stage, SEED, number, only=0) for number in range(2 * PAIRS)]
    assert not _counted(results)


@pytest.mark.parametrize("between", [False, True], ids=["as in a script", "as in a window"])
def test_no_own_key_is_lost_through_two_edits(stage: Stage, between: bool) -> None:
    results = [run_pair(stage, SEED, number, between=between) for number in range(PAIRS)]
    assert not _counted(results)


# A seed and a number each; with what happens in a window between the edits, or without; with other methods, or without.
ONCE_LOST = [
    *(("1001/327", False), ("1001/1355", False), ("1002/2243", True), ("2001/2945", False), ("2002/2368", True)),
    *(("3001/429", False), ("3001/2571", False), ("3002/2888", True), ("3003/553", True), ("3004/1686", False)),
    *(("7001/492", False), ("7003/377", True), ("7003/585", True), ("20131/337", False), ("5102/376", False)),
    *(("5102/2429", False), ("5212/553", False), ("6310/499", False), ("5410/540", False)),
    *(("6410/231", False), ("6510/1083", False), ("5519/216", True), ("5519/1460", True), ("6518/2097", False)),
    *(("7510/1097", False), ("7514/1708", False), ("12510/8961", False), ("1352/5032", False), ("5101/2308", False)),
    ("9103/1482", False),
    *(
        ("61000/1868", False),
        ("63000/1699", False),
        ("64000/1070", False),
        ("68000/3192", False),
        ("70000/4785", False),
        ("75000/4482", False),
        ("76000/2603", False),
    ),
    *(("5103/321", True), ("5103/1100", True), ("5103/1421", True), ("6103/1260", True), ("6103/1286", True)),
]
ONCE_LOST_OF_METHODS = [
    *(("4004/737", False), ("4004/1775", False), ("4004/2733", False)),
    *(("5104/1597", False), ("6104/876", False)),
    *(("5001/23", True), ("5001/216", True), ("5001/476", True), ("6213/470", True)),
    *(("6313/409", True), ("5313/118", True), ("5516/1473", False), ("8512/512", False)),
    *(("8512/1765", False), ("7513/1793", True)),
]


@pytest.mark.parametrize(
    ("case", "between", "methods"),
    [*((*each, False) for each in ONCE_LOST), *((*each, True) for each in ONCE_LOST_OF_METHODS)],
)
def test_pairs_that_lost_keys_once_lose_none(stage: Stage, case: str, between: bool, methods: bool) -> None:
    seed, number = map(int, case.split("/"))
    assert not _counted([run_pair(stage, seed, number, methods, between=between)])
