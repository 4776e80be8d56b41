# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the English of the documents, docstrings and comments: `python tools/check_prose.py [FILE …]`.

Prints each sentence that matches a rule, with advice. The exit status is 1 if there are any.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("animation", "cli", "exchange", "formats", "interp", "operators", "panels", "ui")
MOST_WORDS = 35


class Rule(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    advice: str


def rule(name: str, pattern: str, advice: str) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), advice)


COUNTED = (
    r"(?:\d\S* \w+s|bytes|numbers|degrees|radians?|seconds|ms|ns|slerps|slopes?|operations|threads?|units|one|row|"
    r"column|number|once|twice|times|rates?|error|derivatives?|velocity|length|kB|MB|GB|%|°)"
)
UNIT = (
    r"(?:frame|key|channel|segment|second|minute|track|file|line|page|call|sample|bone|object|core|piece|component|"
    r"group|joint|spline|row|cell|unit|round|quaternion|finding)"
)
RULES = [
    rule("what", r"(?<!know )(?<!knows )(?<!mean )(?<!shows )(?<!explains )\bwhat\b", "Name the noun"),
    rule(
        "near",
        r"\b(?:how|as|so) near\b|\bnearer\b|\bnear to\b|\b(?:comes?|goes|plays?) near(?:est)?\b",
        "Write accurate, exact, close, deviation or maximum error",
    ),
    rule("that of", r"\b(?:that|those) of\b", "Repeat the noun, or use the possessive"),
    rule("of which", r"(?<!each )(?<!some )(?<!both )(?<!all )(?<!most )(?<!one )\bof which\b", "Write whose"),
    rule("stand", r"\b(?:stands?|stood|standing)\b(?! still| for\b)", "Keys are at a frame"),
    rule("rate", rf"(?:\b{COUNTED}|[%°]) an? {UNIT}\b(?!')", "Write per frame, per key"),
    rule("chain", r"^(?:[^:;]{,50}: )?.*[:;]\s.*[:;]\s", "Write one idea per sentence"),
    rule("length", rf"^(?:\S+\s+){{{MOST_WORDS}}}.*[.:]$", f"Write at most {MOST_WORDS} words per sentence"),
    rule("say", r"\b(?:tells?|says?|said)\b", "Software shows, reports or names"),
    rule(
        "is no",
        r"(?<!there )\b(?:is|are) no (?!longer|more|less|\w+er\b)\w+",
        "Write is not a",
    ),
    rule("he", r"\b(?:he|his|him|she|her)\b", "Write they"),
    rule(
        "archaism",
        r"\b(?:as ever|to and fro|let be|hitherto|there(?:of|by|from|upon)|where(?:of|in|by|upon)|hence|whence|whilst|"
        r"amid|for lack of|save for|but for|all but|needs? none|comes of|takes? away|goes on|goes? another way|"
        r"go on|likewise|whoever|whatever (?:the|its|is)|whichever|counts? for nothing|backwards|forwards)\b",
        "Use a plain word",
    ),
    rule(
        "British",
        r"\b(?:colour\w*|behaviour\w*|centred?|normalis\w+|optimis\w+|initialis\w+|metres?|grey|analysed?|favourite\w*|"
        r"neighbour\w*|towards|learnt|spelt|(?:model|label|cancel|travel)l(?:ed|ing))\b",
        "Use American spelling",
    ),
]


def sentences(paragraph: str) -> list[str]:
    """Return the sentences, with code, formulas, labels and links replaced with plain words."""
    text = re.sub(r"`+[^`]*`+|\$[^$]+\$", "`code`", paragraph)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*{1,2}(?=\S)[^*]+\*{1,2}", "*label*", text)
    return re.split(r"(?<=[.!?])[)\"]?\s+(?=[A-Z`*(])", re.sub(r"\s+", " ", text).strip())


def markdown_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each paragraph, list item and cell, without headings and code."""
    tokens = MarkdownIt().enable("table").parse(text)
    for opening, token in itertools.pairwise(tokens):
        if token.type == "inline" and token.map and opening.type not in ("heading_open", "th_open"):
            yield token.map[0] + 1, token.content


def docstring_paragraphs(first_line: int, text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each paragraph, without examples and the types of arguments."""
    paragraph: list[str] = []
    start, indent, is_example = first_line, 0, False
    for number, line in enumerate([*text.splitlines(), ""], first_line):
        stripped, previous, indent = line.strip(), indent, len(line) - len(line.lstrip())
        is_example = bool(stripped) and (is_example or stripped.startswith(">>>"))
        is_code = is_example or bool(re.match(r"[-=|~^]{3,}|\||[\w, *]+ : ", stripped))
        is_new = stripped.startswith("- ") or (indent < previous and number > first_line + 1)
        if paragraph and (is_new or is_code or not stripped):
            yield start, " ".join(paragraph)
            paragraph = []
        if stripped and not is_code:
            start = start if paragraph else number
            paragraph.append(stripped.removeprefix("- "))


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each comment, with the lines of a block joined."""
    block: list[str] = []
    start = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or re.match(r"#!|# SPDX|# type:|# noqa", token.string):
            continue
        if block and token.start[0] != last + 1:
            yield start, " ".join(block)
            block = []
        last = token.start[0]
        start = start if block else last
        block.append(token.string.lstrip("# "))
    if block:
        yield start, " ".join(block)


def python_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each paragraph of the docstrings and comments."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                yield from docstring_paragraphs(node.lineno, docstring)
    yield from comments(text)


def findings(path: Path) -> Iterator[tuple[int, Rule, str]]:
    """Yield the line, the rule and the sentence of each finding."""
    text = path.read_text(encoding="utf-8")
    for line, paragraph in python_paragraphs(text) if path.suffix == ".py" else markdown_paragraphs(text):
        for sentence in sentences(paragraph):
            for each in RULES:
                if each.pattern.search(sentence):
                    yield line, each, sentence


def checked_files() -> list[Path]:
    pages = [ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    return pages + [file for name in PACKAGES for file in sorted((ROOT / name).rglob("*.py"))]


def main(names: list[str]) -> int:
    count = 0
    for path in [Path(name).resolve() for name in names] or checked_files():
        for line, each, sentence in findings(path):
            print(f"{path.relative_to(ROOT)}:{line}: {each.name}: {each.advice}: {sentence}")
            count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
