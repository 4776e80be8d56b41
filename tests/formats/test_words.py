# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors about files are in English, and contain the data for translations."""

from __future__ import annotations

import pytest

from formats import table, three_ds


def made_again(what):
    """Return the sentence composed from its text and values, with sentences among the values also composed again."""
    return what.text.format(*(made_again(value) if hasattr(value, "text") else value for value in what.values))


@pytest.mark.parametrize("content", [b"", b"frame,x,y,z\n1,2,3\n", b"frame,x,y,z\n1,2,3,{4}\n", b"frame,x,x\n1,2,3\n"])
def test_errors_of_tables_keep_what_they_are_made_of(content):
    with pytest.raises(table.TableError) as caught:
        table.read(content)
    assert made_again(caught.value) == str(caught.value)
    assert caught.value.text
    assert str(caught.value) != caught.value.text


def test_errors_and_warnings_of_3ds_files_keep_what_they_are_made_of():
    with pytest.raises(three_ds.ThreeDSError) as caught:
        three_ds.read(b"no .3ds file")
    assert made_again(caught.value) == str(caught.value)
    assert caught.value.text == "byte {:d}: {:s}"
    whole = three_ds.write(
        three_ds.Scene(keyframer=three_ds.Keyframer((three_ds.Node("OBJECT", b"{Ball}", parent=7),)))
    )
    warnings = three_ds.read(whole[:-1]).warnings + three_ds.read(whole + b"more").warnings
    assert [made_again(one.located) for one in warnings] == [str(one) for one in warnings]
    assert any("node '{Ball}': the parent, id 7, is not in the file" in str(one) for one in warnings)
