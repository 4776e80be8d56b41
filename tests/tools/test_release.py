# SPDX-License-Identifier: GPL-3.0-or-later
"""The release command in a separate clone, without `make check` and the site to save time."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("bpy")

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
PUBLISHER = {
    r"(?m)^maintainer = .*": 'maintainer = "Test <test@release.test>"',
    r"(?m)^website = .*": 'website = "https://release.test/"',
    r"(?m)^copyright = .*": 'copyright = ["2026 Test"]',
}
NAMES = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@release.test",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@release.test",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **NAMES}, check=True, capture_output=True, text=True
    ).stdout


def edit(file: Path, edits: dict[str, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for pattern, replacement in edits.items():
        text, count = re.subn(pattern, replacement, text)
        assert count, pattern
    file.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def checkout_of_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of these files, ready for release."""
    folder = tmp_path_factory.mktemp("release") / "checkout"
    files = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in (name for name in files if name and (ROOT / name).is_file()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    (folder / "Makefile").write_text("check:\n\t@echo checked\n", encoding="utf-8")
    edit(folder / "blender_manifest.toml", PUBLISHER)
    changelog = f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}] - 2026-01-01\n\n- New.\n\n## [0.0.1]\n\n- Old.\n"
    (folder / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    commit(folder)
    git(folder, "tag", "ready")
    return folder


@pytest.fixture
def checkout(checkout_of_all: Path) -> Path:
    """The same checkout, reset after changes by the previous test."""
    git(checkout_of_all, "reset", "--quiet", "--hard", "ready")
    git(checkout_of_all, "clean", "--quiet", "--force", "-dx")
    git(checkout_of_all, "tag", "--force", f"v{VERSION}")
    return checkout_of_all


def commit(folder: Path) -> None:
    """Commit all changes, and tag the commit as the version."""
    git(folder, "commit", "--quiet", "--all", "--message", "Release")
    git(folder, "tag", "--force", f"v{VERSION}")


def released(folder: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(folder / "tools" / "release.py")]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def refusal(folder: Path) -> str:
    ran = released(folder)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert not (folder / "dist").exists()
    return ran.stderr


def test_a_release_has_files_notes_and_checksums(checkout: Path):
    ran = released(checkout)
    assert ran.returncode == 0, ran.stderr
    assert "checked" in ran.stderr
    dist = checkout / "dist"
    built = {
        f"tcb_animation-{VERSION}.zip",
        f"tcb_splines-{VERSION}-py3-none-any.whl",
        f"tcb_splines-{VERSION}.tar.gz",
    }
    assert {file.name for file in dist.iterdir()} == built | {"RELEASE_NOTES.md", "SHA256SUMS"}
    assert (dist / "RELEASE_NOTES.md").read_text(encoding="utf-8") == f"# TCB Animation {VERSION}\n\n- New.\n"
    sums = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in built}
    with zipfile.ZipFile(dist / f"tcb_animation-{VERSION}.zip") as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert len({entry.date_time for entry in archive.infolist()}) == 1


@pytest.mark.parametrize(
    ("field", "placeholder"),
    [
        ("maintainer", '"Unnamed <maintainer@example.org>"'),
        ("website", '"https://example.org/tcb-animation"'),
        ("copyright", '["2026 Unnamed"]'),
    ],
)
def test_the_publisher_s_placeholder_is_refused(checkout: Path, field: str, placeholder: str):
    edit(checkout / "blender_manifest.toml", {rf"(?m)^{field} = .*": f"{field} = {placeholder}"})
    commit(checkout)
    assert f"{field} is a placeholder" in refusal(checkout)


def test_changed_and_new_files_are_refused(checkout: Path):
    (checkout / "README.md").write_text("changed", encoding="utf-8")
    (checkout / "new.py").touch()
    said = refusal(checkout)
    assert "M README.md" in said
    assert "?? new.py" in said


def test_a_commit_without_the_version_s_tag_is_refused(checkout: Path):
    git(checkout, "tag", "--delete", f"v{VERSION}")
    git(checkout, "tag", "v9.9.9")
    assert f"git tag v{VERSION}" in refusal(checkout)


def test_a_version_without_changes_is_refused(checkout: Path):
    (checkout / "CHANGELOG.md").write_text("## [Unreleased]\n\n- New.\n", encoding="utf-8")
    commit(checkout)
    assert f"CHANGELOG.md has no entries for {VERSION}" in refusal(checkout)


def test_checks_that_fail_are_refused(checkout: Path):
    (checkout / "Makefile").write_text("check:\n\t@false\n", encoding="utf-8")
    commit(checkout)
    assert "make check" in refusal(checkout)


def test_builds_that_differ_are_refused(checkout: Path):
    program = checkout / "tools" / "build_zip.py"
    program.write_text(
        "import sys, time\nfrom pathlib import Path\n"
        f"Path(sys.argv[1], 'tcb_animation-{VERSION}.zip').write_text(str(time.time_ns()))\n",
        encoding="utf-8",
    )
    commit(checkout)
    assert f"differ: tcb_animation-{VERSION}.zip" in refusal(checkout)
