# SPDX-License-Identifier: GPL-3.0-or-later
"""Which edits are kept: the table's named ones, and a seeded sample of random pairs between two looks.

`TCB_PAIRS=5000 pytest tests/animation/test_edit_pairs.py` does more pairs. `python tools/edits.py pairs --case 0/123`
shows one.
"""

from __future__ import annotations

import os

import pytest

from tools.edit_judge import COUNTED
from tools.edit_pairs import Stage, run_pair
from tools.edit_table import CELLS, NAMED, Row, run_row

PAIRS = int(os.environ.get("TCB_PAIRS", "300"))
SEED = 20
MOST_LOST = 0.08
"""Of random pairs: what one look can't tell yet where two edits meet, above all copies that land on what they were
copied from, and tools that give many generated keys other values. In a window each edit is looked at by itself."""
_NOT_YET = {
    ("paste all flipped, then move", "BONES", "samples"),
    ("paste all flipped, then move", "BONES", "curves"),
    ("bake_keys, all selected", "XYZ", "curves"),
    ("scale all by 0.3, snapping", "XYZ", "curves"),
}
"""Named edits of which a look can't tell yet what they meant, by mode and output."""
TELLABLE = [
    (row, mode, cell)
    for row in NAMED
    if not row.known
    for mode in row.modes
    for cell in CELLS
    if (row.name, mode, cell.partition(",")[0]) not in _NOT_YET
]


@pytest.mark.parametrize(
    ("row", "mode", "cell"), TELLABLE, ids=[f"{row.name}-{mode}-{cell}" for row, mode, cell in TELLABLE]
)
def test_own_keys_are_kept_through_a_named_edit(animation, row: Row, mode: str, cell: str) -> None:
    found = run_row(Stage(animation), row, mode, *CELLS[cell])
    assert found["verdict"] not in COUNTED, (found["texts"][:5], found["notes"])


def test_hardly_any_own_key_is_lost_through_two_edits_between_looks(animation) -> None:
    stage = Stage(animation)
    results = [run_pair(stage, SEED, number) for number in range(PAIRS)]
    lost = [(each.case, str(each.setting), each.story, each.error or each.verdict.texts[0]) for each in results
            if each.worst in COUNTED]  # fmt: skip
    assert not [each for each in results if each.error]
    assert len(lost) <= MOST_LOST * PAIRS, lost
