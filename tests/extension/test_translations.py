# SPDX-License-Identifier: GPL-3.0-or-later
"""All messages are translatable: Blender's tools find them, and their translations are shown."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [
    init.parent for init in ROOT.glob("*/__init__.py") if init.parent.name not in ("tests", "tools", "examples")
]
SOURCES = sorted([*ROOT.glob("*.py"), *(module for package in PACKAGES for module in package.rglob("*.py"))])
"""The modules of the extension."""
MARKERS = {"rpt_", "iface_", "n_"}
"""Functions that mark text for translation. Blender's tools find text by these names."""
WORDS = re.compile(r"[A-Za-z]*[a-z]{2,}[,;:.]* +[(\"']*[A-Za-z{]|[}\])] [(\"']*[a-z]{2,}|^ ?[a-z]{2,} ?$(?<= )")
"""A pattern that matches sentences and their parts, but no names or paths."""
SHOWN = {"text", "heading", "message", "name", "description", "report", "poll_message_set"}
"""Calls and arguments whose literals Blender translates when it shows them."""
NOT_SAID = re.compile(
    r"\{program\} |void main\(\)|^blender --command|^tcb: \{\}|^\{\} \{\}, Blender \{\}$"
    r"|^(Object Mode|Graph Editor)$|^time \(s\)$|^Object Transforms$|^3DS (Aim|Roll|Axes)$"
    r"|^TCB (scratch|paths|Velocities)$"
)
"""Command lines, shaders, names of Blender's keymaps, table headings, and names of created objects."""
OF_SCRIPTS = {
    "interp": ("ValueError", "TypeError", "__str__"),
    "datablocks.py": ("name_of",),
    "find_tracks.py": ("_name_in_messages",),
    "many.py": ("on_each", "on_all"),
}
"""Functions whose text is not translated: errors from incorrect calls, names also used in tables, and docstrings."""
GERMAN = {
    "frame {:g}": "Bild {:g}",
    "component {:d} of the value is 0, which has no logarithm": "Komponente {:d} ist 0, ohne Logarithmus",
    "the frame range {:g} to {:g} is empty": "zwischen {:g} und {:g} liegt kein Bild",
    "handles approximate the motion: maximum error {:size} at frame {:g}": "bei Bild {1:g} um {0:size} daneben",
    "as Euler angles with {:s}: {:s}": "als Eulerwinkel nach {:s}: {:s}",
    "Logarithmic": "Logarithmisch",
    "Lagrange through {:d} keys oscillates between them, up to {:.3g} times their range": (
        "Lagrange durch {:d} Keys schwingt zwischen ihnen, bis {:.3g} mal so weit"
    ),
}


def _name(node: ast.AST) -> str:
    """Return the name of a function, or of the function that a call uses."""
    called = node.func if isinstance(node, ast.Call) else node
    return str(getattr(called, "id", getattr(called, "attr", getattr(called, "name", ""))))


def _is_marked(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _name(node) in MARKERS


def _is_shown_by_blender(above: Sequence[ast.AST]) -> bool:
    """True if the text is in a declaration of a class or an enum item, or in an argument that Blender shows."""
    if not any(isinstance(outer, ast.FunctionDef) for outer in above):
        return True
    handed = (outer.arg if isinstance(outer, ast.keyword) else _name(outer) for outer in above)
    named = (_name(target) for outer in above if isinstance(outer, ast.Assign) for target in outer.targets)
    return not SHOWN.isdisjoint((*handed, *named))


def _inside(node: ast.AST, above: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Yield each node with its enclosing nodes, from the outermost to the innermost."""
    yield node, above
    for child in ast.iter_child_nodes(node):
        yield from _inside(child, (*above, node))


def _sentences_of(module: Path) -> Iterator[tuple[str, ast.AST, str, bool]]:
    """Yield the module's visible texts: location, node and words, and True if the text is translated."""
    exempt = next((names for part, names in OF_SCRIPTS.items() if part in module.relative_to(ROOT).parts), ())
    for node, above in _inside(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not isinstance(above[-1], ast.Expr):
            text = node.value
        else:
            continue
        within = any(isinstance(outer, ast.JoinedStr) for outer in above) and isinstance(node, ast.Constant)
        if within or not WORDS.search(text) or NOT_SAID.search(text) or any(_name(outer) in exempt for outer in above):
            continue
        place = f"{module.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        yield place, node, text, any(map(_is_marked, above)) or _is_shown_by_blender(above)


@pytest.fixture(scope="module")
def texts(found: dict[tuple[str, str], bool]) -> set[str]:
    return {text for _, text in found}


@pytest.mark.parametrize("module", SOURCES, ids=lambda module: str(module.relative_to(ROOT)))
def test_every_sentence_is_translated_where_it_is_said_and_found_by_blenders_tool(module, texts):
    """Values are inserted into a text only after its translation, so no sentence is an f-string."""
    for place, node, text, is_translated in _sentences_of(module):
        assert not isinstance(node, ast.JoinedStr), f"{place}: an f-string: {text}"
        assert is_translated, f"{place}: not translated: {text}"
        assert text in texts, f"{place}: not found by Blender's tool: {text}"


@pytest.mark.parametrize("module", SOURCES, ids=lambda module: str(module.relative_to(ROOT)))
def test_what_is_marked_is_found_in_the_context_in_which_it_is_looked_up(module, found):
    """Blender's tool interprets a literal in the second argument as a context."""
    calls = (node for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))) if _is_marked(node))
    marked = [(call, str(call.args[0].value)) for call in calls if isinstance(call.args[0], ast.Constant)]
    places = [
        f"{call.lineno}: {text}"
        for call, text in marked
        if WORDS.search(text) and (_context_of(call), text) not in found
    ]
    assert places == []


def _context_of(call: ast.Call) -> str:
    """Return the context in which the text of a marked call is looked up."""
    import bpy

    named = next((_name(keyword.value) for keyword in call.keywords if keyword.arg == "msgctxt"), "default")
    return str(getattr(bpy.app.translations.contexts, named))


@pytest.fixture
def in_german(tcb_animation, monkeypatch):
    """A replacement for the lookup of translations, because Blender as a module has only one language."""
    words = importlib.import_module(f"{tcb_animation.__name__}.animation.text")

    def translated(text: str, _context: str = "*") -> str:
        return GERMAN.get(text, text)

    stand_in = SimpleNamespace(pgettext_rpt=translated, pgettext_iface=translated)
    monkeypatch.setattr(words, "translations", stand_in)
    return words


def test_a_reason_of_the_mathematics_is_told_with_its_values_and_the_tracks_component(in_german, scene):
    from tests.animation.curves import insert, new_object

    animation = importlib.import_module(f"{in_german.__package__.rpartition('.')[0]}.animation")
    ball = new_object("Ball")
    insert(ball, "location", [(1, 2.0), (7, 0.0), (20, 1.0)], index=2)
    animation.enable(ball, keep_look=False)
    animation.choose(ball, "location", method="LOGARITHMIC")
    with pytest.raises(animation.AnimationError) as refused:
        animation.bake(ball)
    assert str(refused.value) == '"Ball", Location, Bild 7: Komponente 2 ist 0, ohne Logarithmus'


def test_what_quotes_what_was_said_is_told_in_one_language(in_german):
    interp = importlib.import_module(f"{in_german.__package__.rpartition('.')[0]}.interp")
    roll_pitch_yaw = importlib.import_module(
        f"{in_german.__package__.rpartition('.')[0]}.interp.splines.roll_pitch_yaw"
    )
    logarithmic = importlib.import_module(f"{in_german.__package__.rpartition('.')[0]}.interp.splines.logarithmic")
    keys = interp.Keys([0, 10], [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    with pytest.raises(interp.KeysError) as error:
        roll_pitch_yaw.RotationSpline.from_angles(keys, angles=logarithmic.METHOD)
    fault = error.value.message
    assert fault == "as Euler angles with Logarithmic: component 0 of the value is 0, which has no logarithm"
    told = in_german.translated(fault)
    assert told == "als Eulerwinkel nach Logarithmisch: Komponente 0 ist 0, ohne Logarithmus"


def test_a_note_of_the_mathematics_is_told_where_a_frame_function_plays_it_too(in_german, scene):
    from tests.animation.curves import insert, new_object

    animation = importlib.import_module(f"{in_german.__package__.rpartition('.')[0]}.animation")
    ball = new_object("Ball")
    insert(ball, "location", [(frame, frame % 3) for frame in range(1, 13)], index=2)
    animation.enable(ball, keep_look=False)
    animation.choose(ball, "location", method="LAGRANGE")
    animation.retime(ball, "REVERSE")
    assert any("Lagrange durch 12 Keys schwingt" in str(note) for note in animation.bake(ball).notes)


def test_an_error_of_pythons_is_told_as_it_is(in_german):
    """A SyntaxError contains the text of a line."""
    assert in_german.translated(SyntaxError("wrong", ("file.py", 1, 1, "the {line}"))) == "wrong (file.py, line 1)"


def test_another_language_has_its_own_order(in_german):
    finding = importlib.import_module(f"{in_german.__package__}.report").Finding
    assert finding("HANDLES_APPROXIMATE", arguments=((0.5, "°"), 3.0)).message == "bei Bild 3 um 0.5° daneben"


SAY_IN_GERMAN = """
import bpy
if "de_DE" not in bpy.app.translations.locales:
    raise SystemExit("this Blender knows no German")
from bl_ext.user_default.tcb_animation import animation
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.context.preferences.view.language = "de_DE"
bpy.context.preferences.view.use_translate_reports = True
bpy.app.translations.register("test", {{"de_DE": {{("*", text): said for text, said in {german!r}.items()}}}})
ball = bpy.data.objects.new("Ball", None)
bpy.context.collection.objects.link(ball)
bpy.context.view_layer.objects.active = ball
ball.select_set(True)
for frame, height in ((1, 2.0), (7, 0.0), (20, 1.0)):
    ball.location.z = height
    ball.keyframe_insert("location", index=2, frame=frame)
animation.enable(ball, keep_look=False)
animation.choose(ball, "location", method="LOGARITHMIC")
try:
    bpy.ops.tcb.bake()
except RuntimeError as error:
    print("said:", str(error).strip())
"""


def test_blender_says_it_in_the_language_of_the_user(blender_with_languages: Callable[[str], str]) -> None:
    said = blender_with_languages(SAY_IN_GERMAN.format(german=GERMAN))
    assert 'said: Error: "Ball", Location, Bild 7: Komponente 2 ist 0, ohne Logarithmus\n' in said
