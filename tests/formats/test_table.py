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

from formats import table, table_headings

PLACED = [[2.0, 3.0, 4.0], [3.0, 4.0, 5.0]]


def properties(content):
    if isinstance(content, str):
        content = content.encode()
    return {one.path: one for one in table.read(content).properties}


def location(content):
    return properties(content)["location"].values.tolist()


@pytest.mark.parametrize(
    "content",
    [
        "frame,location.x,location.y,location.z\n1,2,3,4\n2,3,4,5\n",
        "frame;x;y;z\r\n1;2;3;4\r\n2;3;4;5",
        "frame\tPOS_X\tpos y\tPositionZ\r1\t2\t3\t4\r2\t3\t4\t5",
        "frame x y z\n1 2   3 4\n  2 3 4 5\n",
        "\ufeffframe, tx , ty , tz \n 1 , 2 , 3 , 4 \n2,3,4,5",
        "# made by hand\n\nframe,location[0],location[1],location[2]\n# rows\n1,2,3,4 # here\n\n2,3,4,5\n#",
        "# frame x y z\n1.0e+00 2.0e+00 3.0e+00 4.0e+00\n2 3 4 5\n",
        'frame;x;y;z\n"1,0";2,0;3;4\n2;3;4;5e0\n',
        "x,z,y,frame\n2,4,3,1\n3,5,4,2\n",
        "frame,x,y,z,,\n1,2,3,4,,\n2,3,4,5\n",
        "Frame,Time,x,y,z\n1,0.5,2,3,4\n2,0.6,3,4,5\n",
    ],
)
def test_separators_comments_marks_quotes_and_names_of_other_programs_are_understood(content):
    assert location(content) == PLACED


def test_utf_16_is_understood():
    assert location(b"\xff\xfe" + "frame\tx\ty\tz\n1\t2\t3\t4\n2\t3\t4\t5\n".encode("utf-16-le")) == PLACED


def test_what_numpy_writes_is_read(tmp_path):
    rows = np.random.default_rng(1).normal(size=(50, 4))
    rows[:, 0] = np.arange(50) / 7
    for delimiter in (",", " ", ";"):
        np.savetxt(tmp_path / "run.txt", rows, delimiter=delimiter, header=delimiter.join(("time", "x", "y", "z")))
        read = table.read((tmp_path / "run.txt").read_bytes())
        assert read.unit == "SECOND"
        np.testing.assert_allclose(read.properties[0].values, rows[:, 1:], rtol=1e-15)


def test_what_pythons_csv_writes_is_read():
    names = ["frame", '["a,b"]', 'pose.bones["Arm.L"].location.x', '["c"][1]', 'nodes["Mix"].inputs[0].default_value']
    stream = io.StringIO()
    csv.writer(stream).writerows([names, [1, 2, 3, 4, 5]])
    found = properties(stream.getvalue())
    assert {path: (one.components, one.values.tolist()) for path, one in found.items()} == {
        '["a,b"]': ((0,), [[2.0]]),
        'pose.bones["Arm.L"].location': ((0,), [[3.0]]),
        '["c"]': ((1,), [[4.0]]),
        'nodes["Mix"].inputs[0].default_value': ((0,), [[5.0]]),
    }


@pytest.mark.parametrize(
    ("names", "path", "form", "order"),
    [
        ("qw,qx,qy,qz", "rotation", "QUATERNION", ""),
        ("rotation_quaternion.w,quat_x,quaternion y,q.z", "rotation", "QUATERNION", ""),
        ("euler_xyz_radians.x,euler_xyz_radians.y,euler_xyz_radians.z", "rotation", "EULER", "XYZ"),
        ("rot_ZYX_rad.x,rot_ZYX_rad.y,rot_ZYX_rad.z", "rotation", "EULER", "ZYX"),
        ("rotation_euler.x,rotation_euler.y,rotation_euler.z", "rotation", "EULER", ""),
        ('pose.bones["A"].qw,pose.bones["A"].qx,pose.bones["A"].qy,pose.bones["A"].qz', 'pose.bones["A"].rotation',
         "QUATERNION", ""),
        (",".join(f"m{row}{column}" for row in range(3) for column in range(3)), "matrix", "MATRIX", ""),
        (",".join(f"m{row}{column}" for row in range(1, 4) for column in range(1, 4)), "matrix", "MATRIX", ""),
        (",".join(f"matrix[{place}]" for place in range(9)), "matrix", "MATRIX", ""),
        ("rotation_axis_angle.w,rotation_axis_angle.x,rotation_axis_angle.y", "rotation_axis_angle", "VALUE", ""),
        ("scale.x,scl_y,scaleZ", "scale", "VALUE", ""),
        ("lens", "lens", "VALUE", ""),
        ("color.r,color.g,color.b,color.a", "color", "VALUE", ""),
    ],
)  # fmt: skip
def test_names_tell_the_property_its_form_and_its_components_in_order(names, path, form, order):
    count = names.count(",") + 1
    content = f"frame,{names}\n1,{','.join(map(str, range(count)))}"
    (one,) = properties(content).values()
    assert (one.path, one.form, one.order, one.components) == (path, form, order, tuple(range(count)))
    assert one.values.tolist() == [list(range(count))]


def test_an_index_with_thousands_of_digits_names_a_property_of_its_own():
    path = f"m[{'9' * 5000}]"
    assert properties(f"frame,{path}\n1,2")[path].is_single


def test_degrees_become_radians():
    one = properties("frame,euler_xyz_deg.x,euler_xyz_deg.y,euler_xyz_deg.z\n1,180,-90,720")["rotation"]
    np.testing.assert_allclose(one.values, [[np.pi, -np.pi / 2, 4 * np.pi]], rtol=1e-15)


def test_an_empty_cell_is_no_key():
    found = properties("frame,x,y,qw,qx,qy,qz\n1,2,,1,0,0,0\n2,,,,,,\n3,4,5,1,0,0,0")
    assert np.array_equal(found["location"].values, [[2, np.nan], [np.nan, np.nan], [4, 5]], equal_nan=True)
    assert np.isnan(found["rotation"].values).all(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("content", "line", "column", "words"),
    [
        ("", None, None, "empty"),
        ("# only a comment\n", None, None, "header row"),
        ("frame,x\n", 1, None, "no rows"),
        ("1,2,3\n", 1, None, "must name the columns"),
        ("x,y\n1,2", 1, None, "there is no time column"),
        ("frame\n1", 1, None, "the time column is the only column"),
        ("frame,frame,x\n1,2,3", 1, 2, "already contains the time"),
        ("frame,x,tx\n1,2,3", 1, 3, "the data is the same as in column 2"),
        ("frame,x,,y\n1,2,3,4", 1, 3, "heading is empty"),
        ("frame,x\n1,2\n2,1.5.2", 3, 2, '"1.5.2" is not a number'),
        ("frame,x\n1,2\n2,1_0", 3, 2, "not a number"),
        # The csv module refuses fields of more than 131,072 characters.
        (f'frame,x\n1,"{"1" * 200_000}"', 2, 2, "is not a number"),
        ("frame,x\n1,nan", 2, 2, "not a finite number"),
        ("frame,x\n1,2\n2,-inf", 3, 2, "not a finite number"),
        ("frame,x\n1,1e999", 2, 2, "not a finite number"),
        ("frame,x,y\n1,2,3\n2,3", 3, None, "2 cells, but the header names 3"),
        ("frame,x\n1,2,3", 2, None, "3 cells"),
        ("frame,x\n,2", 2, 1, "is empty"),
        ("frame,x\n1,2\n\n1,3", 4, 1, "is not after 1 in line 2"),
        ("time,x\n2,2\n1,3", 3, 1, "second 1 is not after 2"),
        ("frame,qw,qx,qy\n1,1,0,0", 1, 2, "needs 4 columns, but there are 3"),
        ("frame,qw,qx,qy,qz\n1,1,0,,0", 2, 4, "other components of the rotation"),
        ("frame,euler.x\n1,2", 1, 2, "specify the order"),
        ("frame,euler_xyz.x\n1,2", 1, 2, "specify degrees or radians"),
        ("frame,euler_xyz_deg.x,euler_zyx_deg.y\n1,2,3", 1, 3, "the column is not compatible with column 2"),
        ("frame,m00,m01\n1,2,3", 1, 2, "9 or 16"),
        ("frame,m00,m01,m02,m10,m11,m12,m20,m21,m23\n1,1,0,0,0,1,0,0,0,1", 1, 2, "not 3 by 3"),
        ("frame,qw,qx,qy,qz,rotation_euler[0]\n1,1,0,0,0,0", 1, None, "defined twice"),
        ("frame,x\n1,2\n2,3\0", 3, None, "not a text file"),
    ],
)
def test_a_fault_is_named_with_its_line_and_column(content, line, column, words):
    with pytest.raises(table.TableError, match=words) as caught:
        table.read(content.encode())
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_matrix_written_by_columns_is_not_taken_for_one_by_rows():
    names = ",".join(f"m{row}{column}" for row in range(4) for column in range(4))
    rows = "1,1,0,0,0,0,1,0,0,0,0,1,0,5,6,7,1"
    with pytest.raises(table.TableError, match="last row of the matrix is not 0 0 0 1") as caught:
        table.read(f"frame,{names}\n{rows}".encode())
    assert (caught.value.line, caught.value.column) == (2, 14)


def test_what_is_no_text_is_refused_with_its_place():
    with pytest.raises(table.TableError, match="byte 12 is not valid UTF-8") as caught:
        table.read(b"frame,x\n1,2\n\xff\xff")
    assert caught.value.line == 3


@settings(max_examples=50)
@given(st.binary(max_size=200) | st.text(alphabet="frame,xyz;qw\t\n#\"'[]0123456789.e-+ ", max_size=200))
def test_nothing_but_a_fault_comes_of_any_bytes(content):
    content = content if isinstance(content, bytes) else content.encode()
    for prefix in (b"", b"frame,x,qw,qx,qy,qz\n1,2,1,0,0,0\n"):
        try:
            read = table.read(prefix + content)
        except table.TableError:
            continue
        assert (np.diff(read.times) > 0).all()
        assert np.isfinite(read.times).all()


@pytest.mark.slow
@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.floats(width=32, allow_nan=False, allow_infinity=False),
            st.floats(width=32, allow_nan=False, allow_infinity=False) | st.just(np.float32(np.nan)),
        ),
        min_size=1,
        unique_by=lambda row: row[0],
    )
)
def test_float32_comes_back_bit_for_bit(rows):
    rows = sorted(rows)
    times, values = (np.array(column, dtype=np.float32) for column in zip(*rows, strict=True))
    if (times[1:] == times[:-1]).any():
        return
    made = table.Table("FRAME", times, (table.Property('["a"]', "VALUE", (0,), values[:, np.newaxis], is_single=True),))
    read = table.read(table.write(made))
    assert read.times.astype(np.float32).tobytes() == times.tobytes()
    assert read.properties[0].values.astype(np.float32).tobytes() == values[:, np.newaxis].tobytes()


@pytest.mark.slow
def test_a_million_random_float32_come_back_bit_for_bit():
    bits = np.random.default_rng(3).integers(0, 2**32, 1_000_000, dtype=np.uint32)
    values = bits.view(np.float32)
    values = values[np.isfinite(values)][:200_000].reshape(-1, 4)
    made = table.Table(
        "FRAME",
        np.arange(len(values), dtype=np.float32),
        (table.Property("rotation", "QUATERNION", (0, 1, 2, 3), values),),
    )
    read = table.read(table.write(made)).properties[0].values.astype(np.float32)
    assert read.tobytes() == values.tobytes()


def test_written_names_are_read_as_the_same_columns():
    rows = np.ones((2, 4), dtype=np.float32)
    made = (
        table.Property("location", "VALUE", (0, 2), rows[:, :2]),
        table.Property('pose.bones["A,B"].rotation', "QUATERNION", (0, 1, 2, 3), rows),
        table.Property("rotation", "EULER", (0, 1, 2), rows[:, :3], "ZXY"),
        table.Property('["it \\"is\\""]', "VALUE", (0,), rows[:, :1], is_single=True),
        table.Property("data.lens", "VALUE", (0,), rows[:, :1], is_single=True),
        table.Property("rotation_axis_angle", "VALUE", (0, 3), rows[:, :2]),
        table.Property("delta_location", "VALUE", (1,), rows[:, :1]),
        table.Property('pose.bones["B"].rotation', "EULER", (0, 1, 2), rows[:, :3], "XYZ"),
    )
    # A table contains each rotation only once, so each property is in a separate table.
    for left_out in ("rotation_axis_angle", "rotation"):
        kept = tuple(one for one in made if one.path != left_out)
        read = table.read(table.write(table.Table("SECOND", np.array([0.5, 1.0]), kept)))
        assert read.unit == "SECOND"
        for one, other in zip(kept, read.properties, strict=True):
            np.testing.assert_allclose(one.values, other.values, rtol=1e-15)
            assert (one.path, one.form, one.components, one.order, one.is_single) == (
                other.path, other.form, other.components, other.order, other.is_single,
            )  # fmt: skip


@pytest.mark.slow
def test_memory_goes_with_the_file_and_not_with_what_it_claims():
    content = ("frame,x,y,z\n" + "\n".join(f"{row},{row / 3:.6f},1.5,2.5" for row in range(100_000))).encode()
    tracemalloc.start()
    try:
        table.read(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Text in memory takes up to 4 bytes per character. A number takes 8 bytes, and at least 2 bytes in the file.
    assert peak < 16 * len(content)


def test_a_heading_of_any_length_is_shown_short():
    with pytest.raises(table.TableError) as caught:
        table.read(f"frame,{'a' * 5000}\n1,x".encode())
    assert len(str(caught.value)) < 200


def test_headings_for_time():
    assert [table_headings.time_of(name) for name in ("Frame", "TIME", " seconds ", "t", "x")] == [
        "FRAME", "SECOND", "SECOND", "SECOND", None,
    ]  # fmt: skip
