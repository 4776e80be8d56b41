# SPDX-License-Identifier: GPL-3.0-or-later
"""Configure the site. `make docs` builds it from the repository root, so that links work on GitHub and on the site."""

import importlib
import re
import sys
import tomllib
from pathlib import Path
from unittest.mock import MagicMock, Mock

from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import mock

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tools import tcb

manifest = tomllib.loads((tcb.ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))

project = manifest["name"]
release = manifest["version"]
project_copyright = "the authors of TCB Animation, GPL-3.0-or-later"
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
templates_path = ["_templates"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosectionlabel", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
myst_enable_extensions: list[str] = []
# The first heading below the title may have any level, as on GitHub.
suppress_warnings = ["myst.header", "autosectionlabel.*"]
autosectionlabel_prefix_document = True

# The reference. The docstrings document types in words, which are not links.
default_role = "py:obj"
smartquotes_action = "D"
nitpick_ignore_regex = [("py:.*", ".*")]
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style"), ("Returns", "returns_style")]
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
# The checked types of `animation.arguments`.
autodoc_type_aliases = {"Point": "tuple[float, float, float]", "Positive": "float"}
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_default_options = {
    "members": True,
    "special-members": "__call__",
    # Attributes that only this project uses.
    "exclude-members": "batch, chords, curve, prepared, with_keys, targets",
}
# Import the modules under the names that scripts use, without Blender. They read its version and enums on import.
KEY_ENUMS = """
CONSTANT LINEAR BEZIER SINE QUAD CUBIC QUART QUINT EXPO CIRC BACK BOUNCE ELASTIC
AUTO EASE_IN EASE_OUT EASE_IN_OUT
FREE ALIGNED VECTOR AUTO_CLAMPED
"""
tcb.load("tcb_splines", "interp/__init__.py", [str(tcb.ROOT / "interp")])
tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
with mock(["bpy", "bpy_extras", "mathutils"]):
    importlib.import_module("bpy.app").version = (5, 2, 0)
    keyframe = importlib.import_module("bpy.types").Keyframe = MagicMock()
    enum_items = [Mock(identifier=name, value=number) for number, name in enumerate(KEY_ENUMS.split())]
    keyframe.bl_rna.properties.__getitem__.return_value.enum_items = enum_items
    animation = sys.modules["animation"] = importlib.import_module(f"{tcb.PACKAGE}.animation")
    for name in animation.__all__:
        getattr(animation, name)

html_theme = "furo"
html_title = f"{project} {release}"
html_additional_pages = {"index": "redirect.html"}
html_copy_source = False
html_show_sphinx = False
pygments_style = "tango"
pygments_dark_style = "monokai"

FORMULA_PAGES = {
    heading: page.stem
    for page in (tcb.ROOT / "docs" / "formulas").glob("*.md")
    for heading in re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
}
CITED = re.compile(r'docs/formulas,\s+("[^"]+"(?:,?\s+(?:and\s+)?"[^"]+")*)')
"""Headings of docs/formulas as named in docstrings."""


def link_formulas(_app: Sphinx, _kind: str, _name: str, _item: object, _options: object, lines: list[str]) -> None:
    """Replace the headings of docs/formulas that a docstring cites with links."""

    def link(quoted: re.Match[str]) -> str:
        heading = " ".join(quoted[1].split())
        return f":ref:`{heading} <docs/formulas/{FORMULA_PAGES[heading]}:{heading}>`"

    text = CITED.sub(lambda cited: re.sub(r'"([^"]+)"', link, cited[1]), "\n".join(lines))
    lines[:] = text.split("\n")


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", link_formulas)
