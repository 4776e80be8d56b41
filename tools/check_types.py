# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the types of the package, tests, tools and recipes: `python tools/check_types.py [mypy's arguments]`.

The root of the checkout is the package, and its folder may have any name, which mypy would use as the package's name.
mypy therefore gets the package through a folder of links, build/types/tcb_animation. The recipes are the Python code in
pages of docs/automate. They import the mathematics as users do, as `tcb_splines`. A short script with wrong types shows
that scripts get the types of the package.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BESIDE_THE_PACKAGE = ("tests", "tools", "examples")
TYPES = ROOT / "build" / "types"
RECIPES = ("package", "scipy")
"""Pages of docs/automate."""
CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

SCRIPT = """import bpy
from tcb_animation import animation

ball = bpy.data.objects["Ball"]
animation.bake(ball, output="SAMPLES")
animation.bake(ball, output="CURVES")
animation.bake(ball, output="HANDLES")
animation.bake(ball, output="SAMPLE")  # type: ignore[arg-type]
animation.bake(ball).tracks.real.there  # type: ignore[attr-defined]
"""
"""mypy reports a `type: ignore` comment on a line without that error."""


def package_parts() -> list[Path]:
    """Return the modules and sub-packages at the root that belong to the package."""
    packages = (init.parent for init in ROOT.glob("*/__init__.py") if init.parent.name not in BESIDE_THE_PACKAGE)
    return sorted([*ROOT.glob("*.py"), *packages])


def link_package(folder: Path) -> None:
    """Fill `folder` with a link to each part of the package, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {part.name: part for part in package_parts()}
    for link in folder.iterdir():
        if link.name not in parts or link.resolve() != parts[link.name]:
            link.unlink()
    for name, part in parts.items():
        if not (folder / name).exists():
            (folder / name).symlink_to(os.path.relpath(part, folder), target_is_directory=part.is_dir())


def write_recipes() -> list[Path]:
    """Write the code of each page into a module, and link the mathematics as `tcb_splines`. Return the modules."""
    link = TYPES / "tcb_splines"
    if not link.exists():
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(ROOT / "interp", TYPES), target_is_directory=True)
    modules = []
    for page in RECIPES:
        code = CODE.findall((ROOT / "docs" / "automate" / f"{page}.md").read_text(encoding="utf-8"))
        if not code:
            raise ValueError(f"docs/automate/{page}.md has no Python code")
        module = TYPES / f"recipes_{page}.py"
        module.write_text("\n".join(code), encoding="utf-8")
        modules.append(module)
    return modules


def main() -> int:
    package = TYPES / "tcb_animation"
    link_package(package)
    recipes = write_recipes()
    script = TYPES / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    beside = [name for name in BESIDE_THE_PACKAGE if any((ROOT / name).rglob("*.py"))]
    checked = [str(path.relative_to(ROOT)) for path in (package, *recipes, script)]
    return subprocess.call([sys.executable, "-m", "mypy", *sys.argv[1:], *checked, *beside], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
