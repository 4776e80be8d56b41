# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the types of the package, its tests and its tools: `python tools/check_types.py [mypy's arguments]`.

The root of the checkout is the package, and its folder may have any name, which mypy would use as the package's name.
mypy therefore gets the package through a folder of links, build/types/tcb_animation.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BESIDE_THE_PACKAGE = ("tests", "tools", "examples")


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


def main() -> int:
    package = ROOT / "build" / "types" / "tcb_animation"
    link_package(package)
    beside = [name for name in BESIDE_THE_PACKAGE if any((ROOT / name).rglob("*.py"))]
    return subprocess.call(
        [sys.executable, "-m", "mypy", *sys.argv[1:], str(package.relative_to(ROOT)), *beside], cwd=ROOT
    )


if __name__ == "__main__":
    sys.exit(main())
