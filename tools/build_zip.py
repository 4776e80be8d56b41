# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension's zip and validate it, both with Blender's own tool: `python tools/build_zip.py [FOLDER]`.

Needs the `bpy` wheel, which ships that tool. Prints the path of the zip; FOLDER defaults to dist/.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def blender_extension_tool() -> Path:
    """Return the script behind `blender --command extension`, found without starting Blender."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise SystemExit("build_zip: this Python has no bpy; `make zip` uses one that has")
    return next(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))


def build(folder: Path) -> Path:
    """Build and validate the zip in `folder`, and return its path."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    archive = folder.resolve() / f"{manifest['id']}-{manifest['version']}.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    tool = [sys.executable, str(blender_extension_tool())]
    subprocess.run(
        [*tool, "build", "--source-dir", str(ROOT), "--output-filepath", str(archive)], check=True, stdout=sys.stderr
    )
    subprocess.run([*tool, "validate", str(archive)], check=True, stdout=sys.stderr)
    return archive


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the extension's zip and validate it.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", help="default: dist/")
    try:
        print(build(parser.parse_args().folder))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
