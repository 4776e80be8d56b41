# SPDX-License-Identifier: GPL-3.0-or-later
"""Every tooltip is a short imperative or noun phrase without a full stop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import bpy
import pytest

MOST_WORDS = 15
QUESTION = re.compile(r"(What|Which|How|Whose|Where)\b")
INHERITED = {"rna_type", "name", "filepath", "check_existing", "remove_name", "remove_active"}
"""Properties with descriptions by Blender."""


def of_ours(base: type, package: str) -> Iterator[Any]:
    """Yield the registered classes of the package that derive from a class of Blender."""
    for cls in base.__subclasses__():
        if cls.__module__.startswith(package) and getattr(cls, "is_registered", False):
            yield cls
        yield from of_ours(cls, package)


def of_properties(owner: str, properties: Any) -> Iterator[tuple[str, str]]:
    for prop in properties:
        if prop.identifier in INHERITED or not prop.is_runtime:
            continue
        place = f"{owner}.{prop.identifier}"
        yield place, prop.description
        for item in prop.enum_items_static if prop.type == "ENUM" else ():
            yield f"{place}.{item.identifier}", item.description


def tooltips(package: str) -> Iterator[tuple[str, str]]:
    """Yield the tooltips of all operators, panels, menus, properties and their items, with their places."""
    for cls in of_ours(bpy.types.Operator, package):
        module, name = cls.bl_idname.split(".")
        rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
        yield cls.bl_idname, rna.description
        yield from of_properties(cls.bl_idname, rna.properties)
    for base in (bpy.types.PropertyGroup, bpy.types.AddonPreferences):
        for cls in of_ours(base, package):
            yield from of_properties(cls.__name__, cls.bl_rna.properties)
    for base in (bpy.types.Panel, bpy.types.Menu):
        for cls in of_ours(base, package):
            yield cls.__name__, cls.__doc__
    for owner in (bpy.types.Action, bpy.types.WindowManager, bpy.types.Scene, bpy.types.ID):
        ours = [prop for prop in owner.bl_rna.properties if prop.identifier.startswith("tcb_") and prop.description]
        yield from of_properties(owner.__name__, ours)


@pytest.fixture
def every(tcb_animation):
    found = dict(tooltips(tcb_animation.__name__))
    assert len(found) > 300
    return found


def test_tooltips_are_short_and_no_sentences(every):
    assert {place: text for place, text in every.items() if len(text.split()) > MOST_WORDS} == {}
    assert {place: text for place, text in every.items() if text.endswith(".")} == {}


def test_no_tooltip_is_a_question(every):
    assert {place: text for place, text in every.items() if QUESTION.match(text)} == {}
