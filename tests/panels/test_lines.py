# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in a narrow panel are broken into lines, also in languages without spaces."""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest

TEXTS = (
    "アクションのコピーで，全フレームにキーのあるモーションを少数のキーにします",  # noqa: RUF001
    "最後のキーのポーズが最初のキーと異なります：ループはそこでジャンプします．",  # noqa: RUF001
    "查找摄像机、目标、缩放或关节有问题的帧",
)


@pytest.fixture
def lines(tcb_animation: ModuleType) -> Callable[[str, int], list[str]]:
    found: Callable[[str, int], list[str]] = importlib.import_module(f"{tcb_animation.__name__}.panels.widgets").lines
    return found


def columns(text: str) -> int:
    """Return the width of a text in a terminal's columns."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


@pytest.mark.parametrize("letters", [20, 29, 36, 41, 60])
@pytest.mark.parametrize("text", TEXTS)
def test_lines_without_spaces_are_as_long_as_others(lines, text, letters):
    broken = lines(text, letters)
    assert "".join(broken) == text
    half_a_character_and_punctuation = 3
    assert max(map(columns, broken)) <= letters + half_a_character_and_punctuation


@pytest.mark.parametrize("letters", [20, 29, 36, 41, 60])
@pytest.mark.parametrize("text", TEXTS)
def test_no_line_begins_with_punctuation(lines, text, letters):
    assert [line for line in lines(text, letters) if unicodedata.category(line[0]) == "Po"] == []


def test_words_stay_whole(lines):
    broken = lines("Replace dense curves with few keys in a copy of the action", 29)
    assert broken == ["Replace dense curves with few", "keys in a copy of the action"]


def test_a_unit_stays_with_its_number(lines):
    assert lines("Maximum error 0.1. Time 0.1 s", 27) == ["Maximum error 0.1. Time", "0.1 s"]


@pytest.mark.parametrize(("width", "taken"), [(160, 0), (260, 0), (260, 10), (600, 0)])
def test_a_message_is_cut_at_its_end(tcb_animation: ModuleType, width: int, taken: int) -> None:
    widgets = importlib.import_module(f"{tcb_animation.__name__}.panels.widgets")
    region, system = SimpleNamespace(width=2 * width), SimpleNamespace(ui_scale=2.0)
    context = SimpleNamespace(region=region, preferences=SimpleNamespace(system=system))
    sentence = "1 turn now takes the shortest path. Choose Turns: As Keyed to keep long turns"
    cut = widgets.cut_text(context, sentence, taken)
    assert sentence.startswith(cut.removesuffix("…"))
    assert cut.endswith("…") == (width < 600)
    assert len(cut) + taken <= max(20 + taken, width / 6) + 1
