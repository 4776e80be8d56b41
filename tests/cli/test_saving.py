# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing of results: nothing is lost, and no temporary files remain."""

from __future__ import annotations

import os
import stat

import bpy
import pytest

from tests.cli.scenes import load, names_in, save, state

ZSTANDARD = b"\x28\xb5\x2f\xfd"


def test_no_backup_and_no_temporary_file_stays(tcb, walk, tmp_path):
    bpy.context.preferences.filepaths.save_version = 3
    assert tcb("bake", walk, "--in-place").status == 0
    assert tcb("restore", walk, "--in-place").status == 0
    assert names_in(tmp_path) == ["walk.blend"]


@pytest.mark.parametrize("compress", [False, True])
def test_the_result_is_compressed_as_the_file_was(tcb, walk, tmp_path, compress):
    load(walk)
    save(walk, compress=compress)
    bpy.context.preferences.filepaths.use_file_compression = not compress
    assert tcb("bake", walk, "--output", tmp_path / "baked.blend").status == 0
    assert (tmp_path / "baked.blend").read_bytes().startswith(ZSTANDARD if compress else b"BLENDER")


def test_the_rights_of_a_file_that_is_replaced_stay(tcb, walk):
    walk.chmod(0o640)
    assert tcb("bake", walk, "--in-place").status == 0
    assert stat.S_IMODE(walk.stat().st_mode) == 0o640


def test_a_link_stays_a_link_to_the_file_that_is_replaced(tcb, walk, tmp_path):
    link = tmp_path / "links" / "today.blend"
    link.parent.mkdir()
    link.symlink_to(os.path.relpath(walk, link.parent))
    assert tcb("bake", link, "--in-place").status == 0
    assert link.is_symlink()
    assert not walk.is_symlink()
    assert state(walk) == "baked"
    assert (names_in(tmp_path), names_in(link.parent)) == (["links", "walk.blend"], ["today.blend"])


def with_texture_and_library(tmp_path, walk):
    """Save `shots/shot.blend`, which uses //textures/wood.png and links from //../walk.blend."""
    textures = tmp_path / "shots" / "textures"
    textures.mkdir(parents=True)
    image = bpy.data.images.new("wood", 4, 4)
    image.filepath_raw, image.file_format = str(textures / "wood.png"), "PNG"
    image.save()
    load(walk)
    file = save(tmp_path / "shots" / "shot.blend")
    bpy.data.images.load("//textures/wood.png").use_fake_user = True
    with bpy.data.libraries.load(str(walk), link=True, relative=True) as (_there, here):
        here.objects = ["Head"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Head", "//../walk.blend"])
    return save(file)


def test_relative_paths_stay_as_they_are_in_place(tcb, walk, tmp_path):
    file = with_texture_and_library(tmp_path, walk)
    assert tcb("bake", file, "--in-place").status == 0
    load(file)
    assert [image.filepath for image in bpy.data.images if image.users] == ["//textures/wood.png"]
    assert [library.filepath for library in bpy.data.libraries] == ["//../walk.blend"]


def test_relative_paths_lead_to_the_same_files_from_another_folder(tcb, walk, tmp_path):
    file = with_texture_and_library(tmp_path, walk)
    assert tcb("bake", file, "--output", f"{tmp_path}/out/deep/").status == 0
    load(tmp_path / "out" / "deep" / "shot.blend")
    images = [image for image in bpy.data.images if image.users]
    assert [os.path.realpath(bpy.path.abspath(image.filepath)) for image in images] == [
        str(tmp_path / "shots" / "textures" / "wood.png")
    ]
    assert [library.is_missing for library in bpy.data.libraries] == [False]
    assert all(path.filepath.startswith("//") for path in (*images, *bpy.data.libraries))


def test_the_animators_windows_and_scene_stay_in_the_file(tcb, walk):
    load(walk)
    bpy.data.workspaces[0].name = "My own layout"
    bpy.context.window.scene = bpy.data.scenes.new("Shot")
    bpy.context.scene.frame_set(17)
    save(walk)
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    assert tcb("bake", walk, "--in-place").status == 0
    load(walk)
    assert "My own layout" in bpy.data.workspaces
    assert (bpy.context.scene.name, bpy.context.scene.frame_current) == ("Shot", 17)


def test_scripts_in_the_file_are_not_run(tcb, walk, tmp_path):
    load(walk)
    text = bpy.data.texts.new("startup.py")
    text.write(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    text.use_module = True
    save(walk)
    bpy.context.preferences.filepaths.use_scripts_auto_execute = True
    try:
        assert tcb("bake", walk, "--in-place").status == 0
    finally:
        bpy.context.preferences.filepaths.use_scripts_auto_execute = False
    assert names_in(tmp_path) == ["walk.blend"]
    load(walk)
    assert "startup.py" in bpy.data.texts


def test_what_someone_else_saved_meanwhile_is_not_replaced(tcb, cli, walk, tmp_path, monkeypatch):
    theirs = walk.read_bytes() + b"\0"

    def save_meanwhile(job, outcome):
        walk.write_bytes(theirs)
        return choose(job, outcome)

    choose = cli.verbs.edit.choose
    monkeypatch.setattr(cli.verbs.edit, "choose", save_meanwhile)
    ran = tcb("bake", walk, "--in-place")
    assert ran.status == 1
    assert "another process" in ran.errors[0]
    assert (walk.read_bytes(), names_in(tmp_path)) == (theirs, ["walk.blend"])


def test_a_name_as_long_as_names_may_be_is_no_trouble(tcb, walk, tmp_path):
    long = walk.rename(tmp_path / ("w" * 249 + ".blend"))
    assert tcb("bake", long, "--in-place").status == 0
    assert names_in(tmp_path) == [long.name]


def test_the_result_is_on_the_disk_before_it_takes_the_name_of_the_old(tcb, walk, monkeypatch):
    before, on_disk, replaced = walk.read_bytes(), set(), []
    fsync, replace = os.fsync, os.replace

    def note_file(descriptor):
        on_disk.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def check_and_replace(source, target):
        assert os.stat(source).st_ino in on_disk
        assert walk.read_bytes() == before
        replaced.append(target)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_file)
    monkeypatch.setattr(os, "replace", check_and_replace)
    assert tcb("bake", walk, "--in-place").status == 0
    assert replaced == [walk]
    assert os.stat(walk.parent).st_ino in on_disk


def test_a_name_that_is_no_text_is_no_trouble(tcb, walk, tmp_path):
    odd = walk.rename(os.fsdecode(os.fsencode(tmp_path) + b"/w\xe4lk \xff.blend"))
    ran = tcb("bake", odd, "--in-place")
    assert (ran.status, ran.errors) == (0, [])
    assert "w\\udce4lk" in ran.out
