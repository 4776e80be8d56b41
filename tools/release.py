# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a release into dist/: `make release`, or `python tools/release.py` in an environment with bpy and hatchling.

The checkout must be clean, and its commit must have the tag of the version in blender_manifest.toml, such as v1.0.0.
After `make check`, the script builds the extension's zip, the wheel, the sdist and, if the Makefile has `docs`, the
site. It builds each twice, from two copies of the commit, and fails if the two builds differ. The release notes are the
section of CHANGELOG.md, and SHA256SUMS has one line per file.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PLACEHOLDER = re.compile(r"\bUnnamed\b|\bexample\.(org|com|net)\b")
PUBLISHER = ("maintainer", "website", "copyright")


class ReleaseError(Exception):
    """The reason that a release cannot be built."""


def git(*arguments: str) -> str:
    """Return the output of a git command run in the checkout."""
    ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise ReleaseError(f"git {arguments[0]} failed: {ran.stderr.strip()}. Release from a git checkout")
    return ran.stdout.strip()


def check_publisher(manifest: dict[str, object]) -> None:
    """Reject a manifest whose publisher is missing or a placeholder."""
    for field in PUBLISHER:
        value = manifest.get(field)
        if not value:
            raise ReleaseError(f"blender_manifest.toml has no {field}. Enter the publisher's")
        if PLACEHOLDER.search(str(value)):
            raise ReleaseError(f"blender_manifest.toml: {field} is a placeholder. Enter the publisher's")


def check_commit(version: str) -> None:
    """Reject a checkout that has changes, or whose commit does not have the version's tag."""
    changes = git("status", "--porcelain")
    if changes:
        raise ReleaseError(f"the checkout has changes. Commit or remove them first:\n{changes}")
    tag = f"v{version}"
    if tag not in git("tag", "--points-at", "HEAD").split():
        raise ReleaseError(f"the commit does not have the tag {tag}. Tag it: git tag {tag}")


def release_notes(version: str) -> str:
    """Return the version's section of the changelog."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if section is None or not section[1].strip():
        raise ReleaseError(f"CHANGELOG.md has no entries for {version}. Rename [Unreleased] to [{version}] - DATE")
    return f"# TCB Animation {version}\n\n{section[1].strip()}\n"


def run(command: list[str], folder: Path) -> None:
    ran = subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False)
    if ran.returncode:
        raise ReleaseError(f"the following command failed (see above): {' '.join(command)}")


def copy_commit(folder: Path) -> Path:
    """Write the files of the commit into `folder`, and no other files."""
    archive = folder.with_suffix(".tar")
    git("archive", "--format", "tar", "--output", str(archive), "HEAD")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder


def zip_site(site: Path, archive: Path) -> None:
    """Write the pages into a zip, sorted and without times."""
    with zipfile.ZipFile(archive, "w") as pages:
        for page in sorted(path for path in site.rglob("*") if path.is_file() and ".doctrees" not in path.parts):
            entry = zipfile.ZipInfo(page.relative_to(site).as_posix())
            entry.create_system = 3  # Unix, whose permissions follow
            entry.external_attr = 0o100644 << 16
            pages.writestr(entry, page.read_bytes(), zipfile.ZIP_DEFLATED)


def build(source: Path, folder: Path, version: str) -> None:
    """Build all files from a copy of the commit into `folder`."""
    run([sys.executable, str(source / "tools" / "build_zip.py"), str(folder)], source)
    run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], source)
    if re.search(r"^docs:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
        # Build in the checkout, which has the environment and, because it is clean, the same pages.
        site = ROOT / "build" / "docs"
        shutil.rmtree(site, ignore_errors=True)
        run(["make", "docs"], ROOT)
        zip_site(site, folder / f"tcb_animation-{version}-docs.zip")


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def build_twice(folder: Path, version: str) -> dict[str, str]:
    """Build twice into `folder`, fail if the builds differ, and return the digests of the files."""
    os.environ["SOURCE_DATE_EPOCH"] = git("log", "-1", "--format=%ct")
    with tempfile.TemporaryDirectory() as temporary:
        first, second = Path(temporary, "first"), Path(temporary, "second")
        for built in (first, second):
            built.mkdir()
            build(copy_commit(Path(temporary, f"source-{built.name}")), built, version)
        once, again = digests(first), digests(second)
        differing = sorted(name for name in once.keys() | again.keys() if once.get(name) != again.get(name))
        if differing:
            raise ReleaseError(f"two builds of the same commit differ: {', '.join(differing)}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(first, folder)
    return once


def release() -> dict[str, str]:
    """Check, build, and return the digests of the files in dist/."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    version = str(manifest["version"])
    check_publisher(manifest)
    check_commit(version)
    notes = release_notes(version)
    run(["make", "check"], ROOT)
    files = build_twice(DIST, version)
    (DIST / "RELEASE_NOTES.md").write_text(notes, encoding="utf-8", newline="\n")
    lines = [f"{digest}  {name}\n" for name, digest in files.items()]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")
    return files


def main() -> None:
    try:
        for name, digest in release().items():
            print(digest, name)
    except ReleaseError as error:
        sys.exit(f"release: {error}")


if __name__ == "__main__":
    main()
