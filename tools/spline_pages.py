# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/splines/, with one page per spline module that contains a figure, formulas, measured errors and classes.

    python tools/spline_pages.py [--pictures] [FOLDER]

The texts are from the docstrings, the formulas from docs/formulas, and the measured errors from
docs/measurements/methods.md. tests/docs/test_spline_pages.py compares the pages with these sources. `--pictures` also
draws the figures.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp import Keys
from interp.rotations.base_rotation_spline import OrientationSpline
from interp.splines import METHODS
from tools.api_pages import splines_of
from tools.docstring_markdown import CITED, DocstringMarkdown, anchor, formula_pages

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "splines"
MARKDOWN = DocstringMarkdown(docs="..", level=3)
TITLES = {
    "tcb": "TCB of 3D Studio and 3ds Max",
    "lightwave_kochanek_bartels": "TCB of LightWave, and of Kochanek and Bartels",
    "linear": "Linear",
    "catmull_rom": "Catmull-Rom",
    "hermite": "Hermite",
    "cubic": "C2 cubics",
    "b_spline": "B-splines",
    "logarithmic": "Logarithmic",
    "lagrange": "Lagrange",
    "quaternion_cubic": "Cubics of quaternion components",
    "shoemake": "Shoemake 1985",
    "roll_pitch_yaw": "Roll, pitch and yaw",
}
"""The modules, in the order of the index."""
TESTS = {
    "tcb": ("vector_spline", "rotation_spline"),
    "cubic": ("cubic", "cubic_rotations", "scipy_conventions"),
    "catmull_rom": ("catmull_rom", "rotation_vectors"),
    "hermite": ("hermite", "rotation_vectors"),
}
"""The tests of error bounds, for modules whose tests are not only in the file of the same name."""
GENERATED = "<!-- Made by tools/spline_pages.py: change docstrings or docs/formulas, then `make api`. -->"
CAPTION = (
    "*Top: the motion through the same keys, for rotations as the path of the tip of an axis. Bottom: the velocity per"
    "\nframe, for rotations the angular speed in degrees per frame.*"
)
INDEX = f"""\
# Splines

{GENERATED}

Each module of `interp.splines` has a page with its formulas, errors and classes. [Methods
measured](../measurements/methods.md) compares the methods, [The package](../automate/package.md) shows their use, and
[Formulas](../formulas/README.md) derives them.

- **track**: values, with each component as a separate spline, or rotations, as quaternions w, x, y, z.
- **smooth**: C0 is continuous, C1 has a continuous velocity, C2 a continuous acceleration.
- **keys per side**: the number of keys before and after a frame that affect the motion at that frame.
- **meets keys**: whether the motion passes through the keys.

| class | track | smooth | keys per side | meets keys | description |
| --- | --- | --- | --- | --- | --- |
"""


def pages() -> dict[str, str]:
    """Return the texts of all pages by file name."""
    modules = {name: importlib.import_module(f"interp.splines.{name}") for name in TITLES}
    rows = [
        f"| [{name}]({module_name}.md#{anchor(name)}) | {_properties(cls)} | {_first_line(cls)} |"
        for module_name, module in modules.items()
        for name, cls in splines_of(module_name, module).items()
    ]
    index = {"README.md": INDEX + "\n".join(rows) + "\n"}
    return index | {f"{name}.md": page(name, module) for name, module in modules.items()}


def page(name: str, module: ModuleType) -> str:
    """Return the text of a module's page."""
    classes = splines_of(name, module)
    docstrings = [inspect.getdoc(item) or "" for item in (module, *classes.values())]
    headings = dict.fromkeys(
        heading for text in docstrings for cited in CITED.findall(text) for heading in re.findall('"(.*?)"', cited)
    )
    parts = [
        f"# {TITLES[name]}\n\n{GENERATED}\n",
        f"`interp.splines.{name}`, in the package `tcb_splines.splines.{name}`. [All splines](README.md).\n",
        MARKDOWN.text_of(module),
        f"![The splines of this page and their velocities]({name}.png)\n\n{CAPTION}\n",
        "## Formulas\n",
        "[Notation](../formulas/README.md#notation) defines the common symbols.\n",
        *map(_formulas, headings),
        "## Accuracy\n",
        *_accuracy(name, classes),
        "## Classes\n",
        *MARKDOWN.sections(classes),
    ]
    text = "\n".join(part for part in parts if part)
    return text.rstrip("\n") + "\n"


def _properties(cls: Any) -> str:
    """Return the cells of a class: track, smoothness, keys per side, and whether it meets the keys."""
    spline = cls(Keys([0.0, 10.0, 20.0], [[1.0] * (4 if _track_kind(cls) == "rotations" else 1)] * 3))
    continuity, keys_per_side = importlib.import_module("tests.interp.references").smoothness(cls)
    keys_text = "all" if keys_per_side is None else str(keys_per_side)
    return f"{_track_kind(cls)} | {continuity} | {keys_text} | {'yes' if spline.interpolating else 'no'}"


def _track_kind(cls: type) -> str:
    return "rotations" if issubclass(cls, OrientationSpline) else "values"


def _first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")


def _formulas(heading: str) -> str:
    """Return a section of docs/formulas: its formulas and tables, each with the paragraph that introduces it.

    That paragraph defines the symbols and states the conditions. A section without formulas returns no text.
    """
    text = formula_pages()[heading].read_text(encoding="utf-8")
    body = re.split(rf"^#+ {re.escape(heading)}\n", text, flags=re.MULTILINE)[1]
    body = re.split(r"^#+ ", body, flags=re.MULTILINE)[0]
    shown = []
    for introduction, formula in itertools.pairwise(["", *body.strip("\n").split("\n\n")]):
        if formula.startswith(("    ", "|")):
            shown.append(f"{_linked(introduction)}\n")
            is_table = formula.startswith("|")
            shown.append(f"{formula}\n" if is_table else f"```text\n{textwrap.dedent(formula)}\n```\n")
    return "\n".join([f"**{MARKDOWN.formula_link(heading)}**\n", *shown]) if shown else ""


def _linked(paragraph: str) -> str:
    """Return a paragraph of docs/formulas with links that are valid in docs/splines, including quoted headings."""
    text = re.sub(r"\]\((?=[\w.]+\.md)", "](../formulas/", paragraph)
    return re.sub(
        r'"([^"]+)"', lambda name: MARKDOWN.formula_link(name[1]) if name[1] in formula_pages() else name[0], text
    )


def _accuracy(name: str, classes: dict[str, Any]) -> Iterator[str]:
    """Yield the measured errors of the classes, and the tests of their bounds."""
    tests = ", ".join(f"`tests/interp/test_{test}.py`" for test in TESTS.get(name, (name,)))
    yield f"The notes of each class state its error bounds. Tests: {tests}.\n"
    rows = list(_measured(classes))
    if rows:
        yield "[Maximum errors](../measurements/methods.md) on random tracks:\n"
        yield "\n".join(["| class | reference | maximum error |", "| --- | --- | --- |", *rows, ""])


def _measured(classes: dict[str, Any]) -> Iterator[str]:
    """Yield the rows of docs/measurements/methods.md of these classes."""
    names = {cls: title for title, cls in classes.items()}
    for line in (ROOT / "docs" / "measurements" / "methods.md").read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| \*\*.*?\*\* `(\w+)` \| (values|rotations) \|", line)
        cls = getattr(METHODS[row[1]], row[2]) if row else None
        if cls in names:
            reference, error = line.strip("| ").split(" | ")[-2:]
            yield f"| `{names[cls]}` | {reference} | {error} |"


# Pictures


def draw(name: str, path: Path) -> None:
    """Draw the splines of a module above their velocities."""
    import numpy as np
    from matplotlib import pyplot as plt

    from examples.methods import CURVE, KEY, draw_tip, rotation_keys, value_keys

    classes = splines_of(name, importlib.import_module(f"interp.splines.{name}"))
    figure, axes = plt.subplots(
        2,
        len(classes),
        figsize=(3.2 * len(classes), 3.9),
        height_ratios=(1.7, 1.0),
        squeeze=False,
        layout="constrained",
    )
    for (above, below), (title, cls) in zip(axes.T, classes.items(), strict=True):
        spline = cls(rotation_keys() if _track_kind(cls) == "rotations" else value_keys())
        at = np.linspace(spline.keys.frames[0], spline.keys.frames[-1], 500)
        above.set_title(title.split(".")[1], fontsize=9)
        if _track_kind(cls) == "rotations":
            above.set(xlim=(-1.04, 1.04), ylim=(-1.04, 1.04), aspect="equal")
            above.axis("off")
            draw_tip(above, spline)
            velocity = np.degrees(np.linalg.norm(spline(at, 1), axis=1))
        else:
            above.plot(at, spline(at)[:, 0], color=CURVE, lw=1.6)
            above.plot(spline.keys.frames, spline.keys.values[:, 0], "o", mfc="none", mec=KEY, ms=5.0)
            above.set(xticks=[], ylim=(-1.2, 6.6))
            velocity = spline(at, 1)[:, 0]
        below.plot(at, velocity, color=CURVE, lw=1.2)
        below.set_xticks(spline.keys.frames, [])
        below.grid(axis="x", color="#dde2e7")
        for panel in (above, below):
            panel.tick_params(labelsize=7)
            panel.spines[:].set_color("#ccd3da")
    figure.savefig(path, dpi=70)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--pictures", action="store_true", help="also draw the figures")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (options.folder / name).write_text(text, encoding="utf-8")
    for name in TITLES if options.pictures else ():
        draw(name, options.folder / f"{name}.png")


if __name__ == "__main__":
    main()
