# SPDX-License-Identifier: GPL-3.0-or-later
"""Configure the site. `make docs` builds it from the repository root, so that links work on GitHub and on the site."""

import tomllib
from pathlib import Path

manifest = tomllib.loads((Path(__file__).parents[1] / "blender_manifest.toml").read_text(encoding="utf-8"))

project = manifest["name"]
release = manifest["version"]
project_copyright = "the authors of TCB Animation, GPL-3.0-or-later"
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
templates_path = ["_templates"]

extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions: list[str] = []
# The first heading below the title may have any level, as on GitHub.
suppress_warnings = ["myst.header"]

html_theme = "furo"
html_title = f"{project} {release}"
html_additional_pages = {"index": "redirect.html"}
html_copy_source = False
html_show_sphinx = False
pygments_style = "tango"
pygments_dark_style = "monokai"
