# SPDX-License-Identifier: GPL-3.0-or-later
"""A model of Flamenco's processing of jobs, based on its documentation of variables, commands and job settings.

Settings come from the add-on's form, variables are replaced both ways, and a worker runs the commands.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def evaluated(expression: str, here: Path, settings: dict[str, Any]) -> Any:
    """Return the add-on's result for a setting's `eval`. `here` is the folder of the open file."""

    def abspath(path: str | Path) -> Path:
        text = str(path)
        return Path(os.path.normpath(here / text[2:] if text.startswith("//") else Path.cwd() / text))

    names = {"abspath": abspath, "settings": SimpleNamespace(**settings), "Path": Path, "jobname": "Bake"}
    return eval(expression, {}, names)


def submitted(settings: dict[str, Any], two_way: dict[str, str]) -> dict[str, Any]:
    """Return the settings, in which variables replace the values with which they begin."""

    def replaced(value: Any) -> Any:
        for name, path in two_way.items():
            if isinstance(value, str) and value.lower().replace("\\", "/").startswith(path.lower().replace("\\", "/")):
                return f"{{{name}}}{value[len(path) :]}"
        return value

    return {key: replaced(value) for key, value in settings.items()}


def expanded(value: Any, one_way: dict[str, str], two_way: dict[str, str], separator: str = os.sep) -> Any:
    """Return a command's parameter as a worker gets it.

    A value with a two-way variable is a path, and loses its last slash.
    """
    if isinstance(value, list):
        return [expanded(item, one_way, two_way, separator) for item in value]
    for name, text in one_way.items():
        value = value.replace(f"{{{name}}}", text)
    plain = value
    for name, text in two_way.items():
        value = value.replace(f"{{{name}}}", text)
    if value == plain:
        return value
    slashes = len(value) - len(value.lstrip("/\\"))
    return separator * slashes + separator.join(filter(None, value.replace("\\", "/").split("/")))


def command_line(parameters: dict[str, Any]) -> list[str]:
    """Return the words of a blender-render command: {exe} {exeArgs} {argsBefore} {blendfile} {args}."""
    known = {"exe", "exeArgs", "argsBefore", "blendfile", "args"}
    assert parameters.keys() <= known
    before = [*shlex.split(parameters.get("exeArgs", "")), *parameters.get("argsBefore", [])]
    return [parameters["exe"], *before, parameters["blendfile"], *parameters.get("args", [])]


WORKER_COMMANDS = {"echo", "sleep", "exec", "blender-render", "frames-to-video", "move-directory", "copy-file"}
"""The commands that a worker of Flamenco 3.8.5 supports."""


def work(task: dict[str, Any], one_way: dict[str, str], two_way: dict[str, str]) -> list[subprocess.CompletedProcess]:
    """Run the task's commands, up to the first that fails."""
    ran = []
    for command in task["commands"]:
        assert command["name"] in WORKER_COMMANDS, f"unknown command: {command['name']}"
        assert command["name"] == "blender-render"  # the only supported command in this model
        parameters = {key: expanded(value, one_way, two_way) for key, value in command["parameters"].items()}
        ran.append(subprocess.run(command_line(parameters), capture_output=True, text=True, timeout=120))
        if ran[-1].returncode:
            break
    return ran
