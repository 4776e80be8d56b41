# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as text: accepted and rejected input, the place of errors, and exact round trips of numbers."""

from __future__ import annotations

import csv
import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import table

HEADINGS = ("location[0]", "location[1]", "location[2]")
PLACED = {"location[0]": [2.0, 3.0], "location[1]": [3.0, 4.0], "location[2]": [4.0, 5.0]}


def columns(content):
    read = table.read(content if isinstance(content, bytes) else content.encode())
    return {heading: values.tolist() for heading, values in read.columns.items()}


@pytest.mark.parametrize(
    "content",
    [
        "frame,location[0],location[1],location[2]\n1,2,3,4\n2,3,4,5\n",
        "frame;location[0];location[1];location[2]\r\n1;2;3;4\r\n2;3;4;5",
        "frame\tlocation[0]\tlocation[1]\tlocation[2]\r1\t2\t3\t4\r2\t3\t4\t5",
        "frame location[0] location[1] location[2]\n1 2   3 4\n  2 3 4 5 \n",
        "\ufeffframe, location[0] , location[1] , location[2] \n 1 , 2 , 3 , 4 \n2,3,4,5",
        "# made by hand\n\nframe,location[0],location[1],location[2]\n# rows\n1,2,3,4 # here\n\n2,3,4,5\n#",
        "# frame location[0] location[1] location[2]\n1.0e+00 2.0e+00 3.0e+00 4.0e+00\n2 3 4 5\n",
        'frame;location[0];location[1];location[2]\n"1,0";2,0;3;4\n2;3;4;5e0\n',
        "frame,location[0],location[1],location[2],,\n1,2,3,4,,\n2,3,4,5,\n",
        "frame,seconds,location[0],location[1],location[2]\n1,0.5,2,3,4\n2,0.6,3,4,5\n",
    ],
)
def test_separators_comments_marks_quotes_and_decimal_commas_are_understood(content):
    assert columns(content) == PLACED


def test_columns_can_be_in_any_order():
    assert columns("location[0],location[2],location[1],frame\n2,4,3,1\n3,5,4,2\n") == PLACED


def test_a_heading_can_contain_another_separator():
    heading = 'pose.bones["a;b"].location[0]'
    written = table.write(table.Table("FRAME", np.array([1.0]), {heading: np.array([2.0])}))
    assert columns(written) == {heading: [2.0]}


def test_a_comment_that_mentions_frames_is_not_the_header():
    content = "# one frame per row\nframe location[0] location[1] location[2]\n1 2 3 4\n2 3 4 5\n"
    assert columns(content) == PLACED


def test_what_numpy_writes_is_read(tmp_path):
    rows = np.random.default_rng(1).normal(size=(50, 4))
    rows[:, 0] = np.arange(50) / 7
    for delimiter in (",", " ", ";"):
        np.savetxt(tmp_path / "run.txt", rows, delimiter=delimiter, header=delimiter.join(("seconds", *HEADINGS)))
        read = table.read((tmp_path / "run.txt").read_bytes())
        assert read.unit == "SECOND"
        np.testing.assert_allclose(np.transpose(list(read.columns.values())), rows[:, 1:], rtol=1e-15)


def test_what_pythons_csv_writes_is_read():
    names = ['["a,b"]', 'pose.bones["Arm.L"].location[0]', '["c"][1]', 'nodes["Mix"].inputs[0].default_value']
    stream = io.StringIO()
    csv.writer(stream).writerows([["frame", *names], [1, 2, 3, 4, 5]])
    assert columns(stream.getvalue()) == {name: [number] for name, number in zip(names, [2, 3, 4, 5], strict=True)}


def test_an_empty_cell_is_no_key():
    found = columns("frame,location[0],location[1]\n1,2,\n2,,\n3,4,5")
    assert np.array_equal(list(found.values()), [[2, np.nan, 4], [np.nan, np.nan, 5]], equal_nan=True)


@pytest.mark.parametrize(
    ("content", "line", "column", "words"),
    [
        ("", 1, None, "there is no time column"),
        ("frame,x\n", 1, None, "no rows"),
        ("time,x\n1,2", 1, None, 'Name a column "frame" or "seconds"'),
        ("frame,x,frame\n1,2,3", 1, 3, "column 1 has the same heading"),
        ("frame,x\n1,2\n2,1.5.2", 3, 2, '"1.5.2" is not a finite number'),
        ("frame;x\n1;1.234,5", 2, 2, "not a finite number"),
        ("frame,x\n1,2\n2,1_0", 3, 2, "not a finite number"),
        # The csv module refuses fields of more than 131,072 characters.
        (f'frame,x\n1,"{"1" * 200_000}"', 2, 2, "is not a finite number"),
        ("frame,x\n1,nan", 2, 2, "not a finite number"),
        ("frame,x\n1,2\n2,3\0", 3, 2, "not a finite number"),
        ("frame,x,y\n1,2,3\n2,3", 3, None, "2 cells, but the header names 3"),
        ("frame,x\n1,2,3", 2, None, "3 cells"),
        ("frame,x\n,2", 2, 1, "is empty"),
        ("frame,x\n1,2\n\n1,3", 4, 1, "is not after 1 in line 2"),
    ],
)
def test_a_fault_is_named_with_its_line_and_column(content, line, column, words):
    with pytest.raises(table.TableError, match=words) as caught:
        table.read(content.encode())
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(("content", "line"), [(b"frame,x\n1,2\n\xff\xff", 3), ("frame,x\n1,2".encode("utf-16"), 1)])
def test_what_is_no_utf_8_is_refused_with_its_place(content, line):
    with pytest.raises(table.TableError, match=r"is not valid UTF-8\. Save the table as UTF-8") as caught:
        table.read(content)
    assert caught.value.line == line


@settings(max_examples=50)
@given(st.binary(max_size=200) | st.text(alphabet="frame,xyz;\t\n#\"'[]0123456789.e-+ ", max_size=200))
def test_nothing_but_a_fault_comes_of_any_bytes(content):
    content = content if isinstance(content, bytes) else content.encode()
    for prefix in (b"", b"frame,x,y\n1,2,1\n"):
        try:
            read = table.read(prefix + content)
        except table.TableError:
            continue
        assert (np.diff(read.times) > 0).all()
        assert np.isfinite(read.times).all()


@pytest.mark.slow
def test_a_million_random_float32_come_back_bit_for_bit():
    bits = np.random.default_rng(3).integers(0, 2**32, 1_000_000, dtype=np.uint32)
    values = bits.view(np.float32)
    values = values[np.isfinite(values)]
    times = np.unique(values)
    values = values[: len(times)]
    read = table.read(table.write(table.Table("FRAME", times, {"lens": values})))
    assert read.times.astype(np.float32).tobytes() == times.tobytes()
    assert read.columns["lens"].astype(np.float32).tobytes() == values.tobytes()


def test_written_headings_are_read_as_the_same_columns():
    headings = [*HEADINGS, 'pose.bones["A,B"].rotation_quaternion[0]', '["it \\"is\\""]', "data.lens"]
    made = table.Table("SECOND", np.array([0.5, 1.0]), {heading: np.array([0.1, np.nan]) for heading in headings})
    read = table.read(table.write(made))
    assert (read.unit, read.times.tolist(), list(read.columns)) == ("SECOND", [0.5, 1.0], headings)
    assert all(np.array_equal(values, [0.1, np.nan], equal_nan=True) for values in read.columns.values())


@pytest.mark.slow
def test_memory_goes_with_the_file_and_not_with_what_it_claims():
    content = ("frame,x,y,z\n" + "\n".join(f"{row},{row / 3:.6f},1.5,2.5" for row in range(100_000))).encode()
    tracemalloc.start()
    try:
        table.read(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A line in memory takes some 50 bytes more than in the file. A number takes 8 bytes, and at least 2 in the file.
    assert peak < 16 * len(content)


def test_a_heading_of_any_length_is_shown_short():
    with pytest.raises(table.TableError) as caught:
        table.read(f"frame,{'a' * 5000}\n1,x".encode())
    assert len(str(caught.value)) < 200
