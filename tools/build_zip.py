# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension's zip and validate it, both with Blender's tool: `python tools/build_zip.py [FOLDER]`.

Needs the `bpy` wheel, which ships that tool. Prints the path of the zip. FOLDER defaults to dist/. Equal files produce
equal bytes, because entries are sorted and have the time of SOURCE_DATE_EPOCH or, if it is not set, of 1980.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can store."""


def blender_scripts() -> Path:
    """Return the folder of Blender's scripts, found without starting Blender."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise SystemExit("build_zip: this Python has no bpy; `make zip` uses a Python that has it")
    return next(Path(spec.origin).parent.glob("*/scripts"))


def set_times_and_order(archive: Path) -> None:
    """Rewrite the zip without differences between checkouts of equal files."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = max(time.gmtime(int(epoch))[:6], FIRST_TIME) if epoch else FIRST_TIME
    with zipfile.ZipFile(archive) as built:
        contents = {name: built.read(name) for name in sorted(built.namelist())}
    with zipfile.ZipFile(archive, "w") as rewritten:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.create_system = 3  # Unix, whose permissions follow
            entry.external_attr = 0o100644 << 16
            rewritten.writestr(entry, content, zipfile.ZIP_DEFLATED, compresslevel=9)


def build(folder: Path) -> Path:
    """Build and validate the zip in `folder`, and return its path."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    archive = folder.resolve() / f"{manifest['id']}-{manifest['version']}.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    scripts = blender_scripts()
    tool = [sys.executable, str(scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py")]
    # Blender passes its list of tags, without which its tool would accept any tag.
    tags = ["--valid-tags", str(scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py")]
    subprocess.run(
        [*tool, "build", *tags, "--source-dir", str(ROOT), "--output-filepath", str(archive)],
        check=True,
        stdout=sys.stderr,
    )
    set_times_and_order(archive)
    subprocess.run([*tool, "validate", *tags, str(archive)], check=True, stdout=sys.stderr)
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
