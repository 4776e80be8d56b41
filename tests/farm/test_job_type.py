# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the job type, and the tasks that it creates."""

from __future__ import annotations

import itertools
import shlex

import pytest

from tests.farm.flamenco import WORKER_COMMANDS, command_line, evaluated, expanded, submitted

# AvailableJobSetting in the API description of Flamenco's Manager.
TYPES = {"string": str, "int32": int, "float": (int, float), "bool": bool}
SUBTYPES = {"file_path", "dir_path", "file_name", "hashed_file_path"}
KEYS = {
    *("key", "type", "subtype", "choices", "propargs", "description", "label", "default", "eval", "evalInfo"),
    *("visible", "required", "editable"),
}


@pytest.fixture(scope="module")
def offered(compiled) -> dict:
    return compiled()["job_type"]


@pytest.fixture(scope="module")
def settings(offered) -> dict[str, dict]:
    return {setting["key"]: setting for setting in offered["settings"]}


def options_of(task: dict) -> list[str]:
    """Return the words after the files."""
    words = command_line(task["commands"][-1]["parameters"])
    return words[words.index("--output") :]


def files_of(task: dict) -> list[str]:
    words = command_line(task["commands"][-1]["parameters"])
    return words[words.index("bake") + 1 : words.index("--output")]


def test_the_job_type_has_what_flamenco_shows(offered):
    assert offered.keys() == {"label", "description", "settings"}
    assert len({setting["key"] for setting in offered["settings"]}) == len(offered["settings"])


def test_each_setting_is_one_that_flamenco_knows(settings):
    for key, setting in settings.items():
        assert setting.keys() <= KEYS, key
        assert key.isidentifier()
        assert setting["description"]
        if "default" in setting:
            assert isinstance(setting["default"], TYPES[setting["type"]]), key
            assert isinstance(setting["default"], bool) == (setting["type"] == "bool"), key
        if "subtype" in setting or "choices" in setting:
            assert setting["type"] == "string", key
        assert setting.get("subtype", "dir_path") in SUBTYPES
        assert setting.get("default") in setting.get("choices", [setting.get("default")])
        assert setting.get("propargs", {}).keys() <= {"min", "max"}
        assert "evalInfo" not in setting or setting["evalInfo"].keys() == {"showLinkButton", "description"}


def test_each_setting_can_be_given(settings):
    """A setting without a default is required, or has an expression that computes it."""
    without_default = {key for key, setting in settings.items() if "default" not in setting}
    assert without_default == {"folder", "files", "output", "folder_path", "output_path"}
    shown = {key for key, setting in settings.items() if setting.get("visible", "visible") in ("visible", "submission")}
    assert {key for key in shown & without_default if not settings[key]["required"]} == set()
    assert {key for key in settings.keys() - shown if "eval" not in settings[key]} == set()


def test_the_defaults_are_those_of_the_command(tcb_animation, settings):
    options = tcb_animation.animation.Options()
    assert settings["step"]["default"] == options.step


def test_the_folder_is_that_of_the_open_file(settings, tmp_path):
    assert evaluated(settings["folder"]["eval"], tmp_path, {}) == str(tmp_path)


def test_blenders_own_way_to_write_a_path_becomes_a_path(settings, tmp_path):
    given = {"folder": "//shots/", "output": "//../baked"}
    paths = {key: evaluated(settings[key]["eval"], tmp_path, given) for key in ("folder_path", "output_path")}
    assert paths == {"folder_path": str(tmp_path / "shots"), "output_path": str(tmp_path.parent / "baked")}


def test_a_folder_that_is_not_given_is_refused(compiled, settings, tmp_path):
    given = {"folder": "/shots", "output": ""}
    output = evaluated(settings["output_path"]["eval"], tmp_path, given)
    assert "output" in compiled(**given, files="a.blend", output_path=output)["error"]


def listed(settings, folder, pattern="*.blend", output="/elsewhere") -> list[str]:
    given = {"folder": str(folder), "pattern": pattern, "output": str(output)}
    return shlex.split(evaluated(settings["files"]["eval"], folder.parent, given))


NAMES = ("b.blend", "a b.blend", 'it\'s "new".blend', "dollar $HOME.blend", "näher.blend", "-odd.blend", "#1.blend")


def test_the_files_are_those_of_the_folder_in_order(settings, compiled, tmp_path):
    others = ("notes.txt", "b.blend1", ".b.tcb-1f-00c0ffee.blend", "b.flamenco.blend")
    for name in (*NAMES, *others):
        (tmp_path / name).touch()
    (tmp_path / "folder.blend").mkdir()
    given = {"folder": str(tmp_path), "pattern": "", "output": ""}
    files = evaluated(settings["files"]["eval"], tmp_path, given)
    assert shlex.split(files) == sorted(NAMES)
    (task,) = compiled(folder="/shots", files=files, output="/out")["tasks"]
    assert files_of(task) == [f"/shots/{name}" for name in sorted(NAMES)]


def test_files_of_subfolders_are_found_but_not_the_results_of_another_job(settings, tmp_path):
    for name in ("a.blend", "one/b.blend", "baked/a.blend", "baked/one/b.blend"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert listed(settings, tmp_path, "**/*.blend", tmp_path / "baked") == ["a.blend", "one/b.blend"]
    assert listed(settings, tmp_path, "**/*.blend")[:2] == ["a.blend", "baked/a.blend"]


def test_a_folder_without_blend_files_is_refused(settings, compiled, tmp_path):
    files = evaluated(settings["files"]["eval"], tmp_path, {"folder": str(tmp_path), "pattern": "*", "output": ""})
    error = compiled(folder=str(tmp_path), files=files, output="/out", pattern="*")["error"]
    assert error == f"no .blend file in {tmp_path} matches *"


@pytest.mark.parametrize(("count", "size", "tasks"), [(1, 10, [1]), (4, 2, [2, 2]), (5, 2, [2, 2, 1]), (3, 1, [1] * 3)])
def test_so_many_files_are_one_task(compiled, count, size, tasks):
    names = [f"{number}.blend" for number in range(count)]
    made = compiled(folder="/shots", files=" ".join(names), output="/out", chunk_size=size)["tasks"]
    assert [len(files_of(task)) for task in made] == tasks
    assert list(itertools.chain(*map(files_of, made))) == [f"/shots/{name}" for name in names]
    assert len({task["name"] for task in made}) == len(made)
    assert {task["type"] for task in made} == {"blender"}


def test_subfolders_are_kept(compiled):
    files = "a.blend one/a.blend one/two/b.blend one/c.blend"
    (task,) = compiled(folder="/shots", files=files, output="/out/")["tasks"]
    assert files_of(task) == [f"/shots/{name}" for name in files.split()]
    assert options_of(task)[:4] == ["--output", "/out/", "--relative-to", "/shots"]


def test_a_task_has_only_commands_that_released_workers_know(compiled):
    made = compiled(folder="/shots", files="a.blend one/a.blend", output="/out", chunk_size=1)["tasks"]
    assert {command["name"] for task in made for command in task["commands"]} <= WORKER_COMMANDS


def test_settings_become_options(compiled):
    more = {"objects": "Prop *", "skip_done": False, "extra_arguments": "--tension -0.3 --extend 1 100"}
    given = {"folder": "/shots", "files": "a.blend", "output": "/out", "step": 0.5}
    (task,) = compiled(**given, **more)["tasks"]
    expected = "--output /out --relative-to /shots --step 0.5 --objects=Prop\\ * --tension -0.3 --extend 1 100"
    assert options_of(task) == shlex.split(expected)


def test_what_is_left_out_has_its_default(compiled):
    (task,) = compiled(folder="/shots", files="a.blend", output="/out", step=None)["tasks"]
    assert options_of(task) == shlex.split("--output /out --relative-to /shots --step 1 --skip-done")


@pytest.mark.parametrize(
    ("settings_given", "words"),
    [
        ({"output": "/shots"}, ["a.blend", "would replace"]),
        ({"output": "/Shots/x/.."}, ["a.blend", "would replace"]),
        ({"folder": "C:\\shots", "output": "c:/shots\\"}, ["a.blend", "would replace"]),
        ({"folder": "{shared}/shots", "output": "{shared}/shots"}, ["a.blend", "would replace"]),
        ({"files": "x.blend one/x.blend", "output": "/shots/one"}, ["one/x.blend", "would replace"]),
        ({"output": "baked"}, ["output", "absolute"]),
        ({"output": "D:"}, ["output", "absolute"]),
        ({"folder_path": "/other", "output_path": "/OTHER"}, ["a.blend", "would replace"]),
        ({"folder": "../shots"}, ["folder", "absolute"]),
        ({"files": "a.blend a.blend"}, ["a.blend", "twice"]),
        ({"files": "../a.blend"}, ["../a.blend", "within"]),
        ({"files": "/etc/a.blend"}, ["/etc/a.blend", "within"]),
        ({"files": "'unclosed.blend"}, ["quote"]),
        ({"chunk_size": 0}, ["chunk_size"]),
    ],
)
def test_what_makes_no_sense_is_refused(compiled, settings_given, words):
    result = compiled(**{"folder": "/shots", "files": "a.blend", "output": "/out", **settings_given})
    assert "tasks" not in result
    assert [word for word in words if word not in result["error"]] == []


@pytest.mark.parametrize(
    ("folder", "output", "file", "result"),
    [
        ("C:\\My Shots", "D:\\out put\\", "C:\\My Shots/a.blend", "D:\\out put\\"),
        ("\\\\nas\\shots", "\\\\nas\\out", "\\\\nas\\shots/a.blend", "\\\\nas\\out"),
        ("//nas/shots", "//nas/out", "//nas/shots/a.blend", "//nas/out"),
        ("C:\\", "D:/", "C:/a.blend", "D:/"),
    ],
)
def test_windows_paths_stay_what_they_are(compiled, folder, output, file, result):
    (task,) = compiled(folder=folder, files="a.blend", output=output)["tasks"]
    assert (files_of(task), options_of(task)[1]) == ([file], result)


def test_a_job_from_windows_runs_on_linux_and_the_other_way_round(compiled):
    windows, linux = {"shared": "S:\\film"}, {"shared": "/mnt/film"}
    given = {"folder": "s:/film/my shots", "files": "one/a.blend 'b c.blend'", "output": "S:\\film\\baked\\"}
    made = compiled(**submitted(given, windows))["tasks"]
    for variables, separator, expected in (
        (linux, "/", ["/mnt/film/my shots/one/a.blend", "/mnt/film/baked"]),
        (windows, "\\", ["S:\\film\\my shots\\one\\a.blend", "S:\\film\\baked"]),
    ):
        parameters = made[0]["commands"][-1]["parameters"]
        got = {key: expanded(value, {"blender": "blender"}, variables, separator) for key, value in parameters.items()}
        words = command_line(got)
        assert words[:4] == ["blender", "--command", "tcb", "bake"]
        assert [words[4], words[words.index("--output") + 1]] == expected
