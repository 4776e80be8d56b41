# SPDX-License-Identifier: GPL-3.0-or-later
"""Summaries of imports and exports."""

from __future__ import annotations

import importlib
from collections import Counter

import pytest


@pytest.fixture
def report(animation):
    return importlib.import_module(f"{animation.__name__.rpartition('.')[0]}.exchange.report")


def test_one_thing_and_several_are_counted_in_words(report):
    done = report.ExchangeReport(
        counts=Counter(mesh=2, empty=1, property_without_key=0, key=1200, key_with_parameters=1),
        object_of_node={"Box": "Box", "Ball": "Ball.001"},
    )
    assert list(map(str, done.summary())) == [
        "Created 2 meshes, 1 empty, 1,200 keys, 1 key with parameters",
        'Matched 2 by name: "Box", "Ball" is "Ball.001"',
    ]


def test_where_nothing_was_made_that_is_said(report):
    assert list(map(str, report.ExchangeReport().summary())) == ["Created nothing"]


def test_every_kind_of_node_has_a_word(report):
    three_ds = importlib.import_module(f"{report.__package__.rpartition('.')[0]}.formats.three_ds")
    scene_module = importlib.import_module(f"{three_ds.__name__}.scene")
    nodes = tuple(three_ds.Node(kind, b"One") for kind in scene_module.NODE_KINDS)
    made = report.counts_of_file(three_ds.Scene(keyframer=three_ds.Keyframer(nodes)))
    (line,) = report.ExchangeReport(counts=made).summary()
    assert str(line).count(",") == len(nodes) - 1
