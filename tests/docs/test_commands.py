# SPDX-License-Identifier: GPL-3.0-or-later
"""The command lines in the documents run as written, in a checkout with the files that they name.

Only the programs are replaced. `blender --command tcb` runs the command in this Blender, `blender --command extension`
runs Blender's implementation, and `python` runs this Python. Commands that can't run here are listed with the reason,
and are checked as far as possible.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from formats import table
from tests.docs.documents import DOCUMENTS, ROOT, TABLE

# Indented lines in docs/formulas are formulas, not commands.
PAGES = [ROOT / "CONTRIBUTING.md", *(page for page in DOCUMENTS if page.parent.name != "formulas")]
EXTENSION = """
import bpy, os, sys
from bl_pkg.bl_extension_cli import cli_extension_handler
status = cli_extension_handler(sys.argv[1:])
sys.stdout.flush()
os._exit(status)
"""
"""A stand-in for Blender's handling of `--command extension`."""


def blocks(page: Path) -> Iterator[list[str]]:
    """Yield the lines of each indented block of code, without the indentation."""
    block: list[str] = []
    fenced, after_blank = False, True
    for line in [*page.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("```"):
            fenced = not fenced
        if not fenced and line.startswith("    ") and (block or after_blank):
            block.append(line.strip())
        elif block:
            yield block
            block = []
        after_blank = not line.strip()


def commands(page: Path) -> Iterator[str]:
    """Yield each command line. A line with an open quote continues on the next line."""
    for block in blocks(page):
        if not block[0].startswith("frame,"):  # a table of docs/files/tables.md
            line = ""
            for part in block:
                line = f"{line}\n{part}" if line else part
                if not is_open(line):
                    yield line
                    line = ""


def is_open(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return True
    return False


def ran(*command: object, where: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command in the folder, and set PWD to it as a shell does, because Blender uses PWD."""
    environment = {**os.environ, "PWD": str(where), **more}
    return subprocess.run(
        list(map(str, command)), cwd=where, env=environment, capture_output=True, text=True, timeout=300
    )


def words_of(line: str, where: Path) -> list[str]:
    """Return the line's words, expanded as by a shell in the folder."""
    script = f"""set -o pipefail; words() {{ printf '%s\\0' "$@"; }}; words {line}"""
    return ran("bash", "-c", script, where=where).stdout.split("\0")[:-1]


# Commands that do not run here


def of_make(line: str) -> None:
    _, *targets = shlex.split(line, comments=True)
    tried = ran("make", "--dry-run", *targets)
    assert tried.returncode == 0, tried.stderr


def named(line: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the tool with the verb in the line, and the options."""
    _, tool, *words = shlex.split(line)
    options = [word for word in words if word.startswith("--")]
    verb = [word for word in words[:1] if re.fullmatch(r"[a-z0-9_-]+", word) and word not in options]
    return (tool, *verb), options


HELP = """
import contextlib, io, json, os, runpy, sys
import bpy

said = []
for tool, *verb in json.loads(sys.argv[1]):
    # If Blender is already loaded, tools/tcb.py uses the arguments after the dashes.
    sys.argv = [tool, *(["--"] if tool.endswith("tcb.py") else []), *verb, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.suppress(SystemExit):
        runpy.run_path(tool, run_name="__main__")
    said.append(text.getvalue())
print(json.dumps(said), flush=True)
os._exit(0)
"""


@functools.cache
def helps() -> dict[tuple[str, ...], str]:
    """Return the help of each tool and verb that a line uses with an option or a verb, all from one Blender."""
    lines = [line for line in ELSEWHERE if not_run(line) is has_options]
    asked = sorted({words for words, options in map(named, [*lines, *IN_TEXT]) if options or words[1:]})
    helped = ran(sys.executable, "-c", HELP, json.dumps(asked))
    assert helped.returncode == 0, helped.stderr
    return dict(zip(asked, json.loads(helped.stdout.splitlines()[-1]), strict=True))


def has_options(line: str) -> None:
    """Check that the tool exists, and that its help lists the options."""
    words, options = named(line)
    assert (ROOT / words[0]).is_file()
    if options or words[1:]:
        said = helps()[words]
        assert said.startswith("usage:")
        assert [word for word in options if word not in said] == []


def of_pytest(line: str) -> None:
    found = ran(sys.executable, *shlex.split(line)[1:], "--collect-only", "-p", "no:cacheprovider")
    assert found.returncode == 0, found.stdout
    assert "::test_" in found.stdout


def of_check(line: str) -> None:
    checked = ran("make", "--dry-run", "check").stdout
    for part in line.split("&&"):
        _, *words = shlex.split(part)
        assert " ".join(words).removesuffix(" .") in checked


def of_curl(line: str) -> None:
    """Check that the command sends JSON whose settings exist in the job type."""
    words = shlex.split(line)
    sent = json.loads(words[words.index("--json") + 1])
    offered = set(re.findall(r"key: \"(\w+)\"", (ROOT / "farm" / "tcb_bake.js").read_text(encoding="utf-8")))
    assert sent["settings"].keys() <= offered


LONG = "measures for minutes, and writes a page of docs"
NOT_RUN: dict[str, tuple[str, Callable[[str], None]]] = {
    "make demo": ("renders for minutes; tests/animation and tests/exchange run what it bakes", of_make),
    "make test": ("is what runs this", of_make),
    ".venv-bpy-5.2/bin/python -m pytest": ("those tests run anyway", of_pytest),
    ".venv-check/bin/python": (
        "format, lint and types are checked by `make check`, in an environment of its own",
        of_check,
    ),
    "curl": ("there is no manager of a farm", of_curl),
    "python tools/handles.py": (LONG, has_options),
    "python tools/bench.py": (LONG, has_options),
}


def not_run(line: str) -> Callable[[str], None] | None:
    return next((check for start, (_reason, check) in NOT_RUN.items() if line.startswith(start)), None)


EVERY = [(page, line) for page in PAGES for line in commands(page)]
ELSEWHERE = sorted({line for _, line in EVERY if not_run(line)})
HERE = {
    page.relative_to(ROOT).as_posix(): [line for other, line in EVERY if other == page and not not_run(line)]
    for page in PAGES
}


@pytest.mark.parametrize("line", ELSEWHERE)
def test_a_command_that_can_not_run_here_is_one_that_there_is(line):
    check = not_run(line)
    assert check is not None
    check(line)


def test_every_exception_is_for_a_command_of_the_documents():
    assert [start for start in NOT_RUN if not any(line.startswith(start) for line in ELSEWHERE)] == []
    assert len(EVERY) > 30


# Commands that run


@pytest.fixture
def checkout(files, tmp_path: Path, extension_zip: Path, monkeypatch) -> Path:
    """A copy of the checkout as the current folder, with the files that documents name, and an action of every kind."""
    import bpy

    from tests.cli.scenes import save, thing

    folder = tmp_path / "checkout"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "images")
    shutil.copytree(ROOT, folder, ignore=ignored)
    for name in ("shots", "build/demo"):
        (folder / name).mkdir(parents=True)
    shutil.copy(extension_zip, folder)
    shutil.copy("run.3ds", folder)
    shutil.copy("walk.glb", folder)
    (folder / "FOLDER").mkdir()
    shutil.copy("run.3ds", folder / "FOLDER")
    for name in ("FILE.3ds", "…"):
        shutil.copy("run.3ds", folder / name)
    (folder / "run.csv").write_text(TABLE, encoding="utf-8")

    monkeypatch.chdir(folder)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "plain.blend"))
    thing("Hips", "location", "rotation_quaternion")
    thing("Prop_1", "location")
    for each in bpy.context.scene.objects:
        each.select_set(True)
    bpy.ops.tcb.enable()
    for name in (
        "walk.blend",
        "run.blend",
        "shots/one.blend",
        "shots/two.blend",
        "scene.blend",
        "build/demo/scene.blend",
    ):
        save(folder / name)
    for each in list(bpy.data.objects):
        if each.name != "Ball":
            bpy.data.objects.remove(each)
    bpy.data.objects["Ball"].animation_data_clear()
    save(folder / "empty.blend")
    return folder


@pytest.mark.parametrize("name", [name for name, lines in HERE.items() if lines])
def test_its_commands_run(name, checkout, tcb_animation, capfd, tmp_path):
    command = importlib.import_module(f"{tcb_animation.__name__}.cli")
    for line in HERE[name]:
        words = words_of(line, checkout)
        if words[:3] == ["blender", "--command", "tcb"]:
            assert command.main(words[3:]) == 0, (line, capfd.readouterr().err)
        else:
            if words[:3] == ["blender", "--command", "extension"]:
                program = [sys.executable, "-c", EXTENSION, *words[3:]]
            else:
                assert words[0] == "python", line
                program = [sys.executable, *words[1:]]
            done = ran(*program, where=checkout, BLENDER_USER_RESOURCES=str(tmp_path / "user"))
            assert done.returncode == 0, (line, done.stdout, done.stderr)
        if "--output" in words:
            assert (checkout / words[words.index("--output") + 1]).exists(), line


def test_the_table_of_keys_is_one():
    page = ROOT / "docs" / "files" / "tables.md"
    (rows,) = [block for block in blocks(page) if block[0].startswith("frame,")]
    assert table.read("\n".join(rows).encode()).times.tolist() == [1.0, 24.5]


# Commands named in the text


def lines_in_text(page: Path) -> Iterator[str]:
    """Yield each command named in a page's text, as a line that runs in a checkout."""
    command = r"`((?:python (?:tools|examples)/|(?:blender --command )?tcb )[^`\n]+)`"
    for line in re.findall(command, page.read_text(encoding="utf-8")):
        yield re.sub(r"^(blender --command )?tcb ", "python tools/tcb.py ", line)


IN_TEXT = [line for page in PAGES for line in lines_in_text(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_command_in_the_text_has_the_verb_and_the_options_that_it_names(page):
    for line in lines_in_text(page):
        has_options(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_target_and_a_tool_that_the_text_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"`make ([\w-]+)", text))
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert targets <= known
    tools = set(re.findall(r"`(?:python )?(tools/[\w/]+\.(?:py|sh))", text))
    assert [tool for tool in sorted(tools) if not (ROOT / tool).is_file()] == []
