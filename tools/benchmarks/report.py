# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the tables and the plot of the results of bakes.py into docs/measurements/performance.md.

Figures are medians of the rounds, with minimum and maximum in parentheses.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tools.tables import filled, number, table

ROOT = Path(__file__).resolve().parents[2]

KIND_NAMES = {"armature": "an armature", "objects": "objects"}
COLOURS = {
    "samples": "#e0592a",
    "curves": "#2a7de0",
    "floor of samples": "#1d2733",
    "FCurve.bake": "#6aa84f",
    "nla.bake": "#8e63b5",
    "nla.bake, visual keying": "#b79ad0",
    "anim_utils.bake_action": "#c98f3c",
    "graph.bake_keys": "#c94f7c",
    "keyframe_insert": "#7d8fa3",
}


class Size(NamedTuple):
    """The size of a file that was baked."""

    kind: str
    channels: int
    frames: int
    vertices: int = 0


@dataclass(frozen=True)
class Span:
    """The values of a figure in all rounds."""

    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        return median(self.values)

    def __str__(self) -> str:
        least, most = min(self.values), max(self.values)
        return f"{number(self.middle)} ({number(least)} to {number(most)})" if most > least else number(self.middle)


@dataclass(frozen=True)
class Results:
    """The measurements of one run of bakes.py."""

    raw: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> Results:
        return cls(json.loads(path.read_text()))

    @cached_property
    def runs(self) -> dict[Size, dict[str, list[dict[str, Any]]]]:
        """Return the runs by size and method, one for each round."""
        found: dict[Size, dict[str, list[dict[str, Any]]]] = {}
        for run in self.raw["runs"]:
            size = Size(run["kind"], run["channels"], run["frames"], run["vertices"])
            found.setdefault(size, {}).setdefault(run["method"], []).append(run)
        return found

    @property
    def centre(self) -> tuple[int, int]:
        """Return the numbers of channels and frames of the file with which all methods were measured."""
        return next((size.channels, size.frames) for size, methods in self.runs.items() if "restore" in methods)

    @property
    def characters(self) -> list[Size]:
        """Return the armature with a skin, if there was one."""
        return [size for size in self.runs if size.vertices]

    def sizes(self, kind: str) -> list[Size]:
        """Return the sizes of a kind from smallest to largest, without the character."""
        return sorted(size for size in self.runs if size.kind == kind and not size.vertices)

    def spans(self, size: Size, method: str, *names: str) -> Span | None:
        """Return the sum of the named figures, or None if they were not measured."""
        rounds = self.runs[size].get(method)
        return Span(tuple(sum(run[name] for name in names) for run in rounds)) if rounds else None

    def of(self, size: Size, method: str, name: str) -> float:
        span = self.spans(size, method, name)
        assert span is not None, (size, method, name)
        return span.middle

    def ratio(self, size: Size, method: str, other: str) -> Span | None:
        """Return the ratio of the times of two methods, round by round."""
        rounds, others = self.runs[size].get(method), self.runs[size].get(other)
        if not rounds or not others:
            return None
        return Span(tuple(a["seconds"] / b["seconds"] for a, b in zip(rounds, others, strict=False)))


def milliseconds(span: Span | None) -> str:
    return "" if span is None else number(1e3 * span.middle)


def conditions(results: Results) -> str:
    """Return a sentence on the machine and the versions."""
    told = results.raw["machine"]
    return (
        f"Measured with Blender {told['blender']}, Python {told['python']}, NumPy {told['numpy']}, "
        f"on {told['system']}, {told['cores']} cores of {told['processor']}. Rounds: {results.raw['plan']['rounds']}."
    )


def ways(results: Results, size: Size) -> str:
    """Return the table of all methods for one file."""
    before = results.spans(size, "keys", "bytes")
    rows = []
    for method in results.runs[size]:
        keys = results.of(size, method, "keys")
        grown = results.of(size, method, "after") - results.of(size, method, "before")
        baked = method not in ("keys", "restore")
        rows.append(
            (
                f"**{method}**" if method in ("samples", "curves") else method,
                milliseconds(results.spans(size, method, "seconds")) if method != "keys" else None,
                results.ratio(size, method, "floor of samples") if method != "keys" else None,
                f"{keys:,.0f}",
                number(max(grown, 0) / keys) if baked else None,
                f"{results.of(size, method, 'bytes') / 1e6:.1f}",
            )
        )
    assert before is not None
    heads = (
        "way",
        "ms",
        "times the floor",
        "keys",
        "bytes per key",
        ".blend, MB",
    )
    return table(heads, rows)


def sections(results: Results) -> dict[str, str]:
    """Return the tables of docs/measurements/performance.md by name. The table of the character requires a skin."""
    with_skin = [character(results, size) for size in results.characters]
    return {
        "conditions": conditions(results),
        "ways, armature": ways(results, Size("armature", *results.centre)),
        **({"ways, character": "\n\n".join(with_skin)} if with_skin else {}),
    }


def character(results: Results, size: Size) -> str:
    """Return the table of the armature with a skin."""
    rows = [
        (method, milliseconds(results.spans(size, method, "seconds")), results.ratio(size, method, "samples"))
        for method in results.runs[size]
    ]
    return table(("way", "ms", "times the bake of samples"), rows)


def plot(results: Results, path: Path) -> None:
    """Plot seconds by channels, seconds by frames, and memory for each kind."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    channels, frames = results.centre
    figure, rows = plt.subplots(len(KIND_NAMES), 3, figsize=(15, 9.5), layout="constrained", squeeze=False)
    for (by_channels, by_frames, of_memory), (kind, name) in zip(rows, KIND_NAMES.items(), strict=True):
        wide = [size for size in results.sizes(kind) if size.frames == frames]
        long = [size for size in results.sizes(kind) if size.channels == channels]
        by_channels.set(title=f"All of a bake: {name}, {frames:,} frames", xlabel="channels", ylabel="seconds")
        by_frames.set(title=f"All of a bake: {name}, {channels:,} channels", xlabel="frames", ylabel="seconds")
        of_memory.set(title=f"Memory, Blender and all: {name}, {frames:,} frames", xlabel="channels", ylabel="GB")
        for method, colour in COLOURS.items():
            style: dict[str, Any] = {
                "color": colour,
                "lw": 2.4 if method in ("samples", "curves") else 1.2,
                "ls": "--" if method.startswith("floor") else "-",
                "marker": "o",
                "ms": 3,
                "label": method,
            }
            for axes, sizes, place, figure_name, unit in (
                (by_channels, wide, 1, "seconds", 1.0),
                (by_frames, long, 2, "seconds", 1.0),
                (of_memory, wide, 1, "peak", 1 << 30),
            ):
                there = [size for size in sizes if method in results.runs[size]]
                axes.plot(
                    [size[place] for size in there],
                    [results.of(size, method, figure_name) / unit for size in there],
                    **style,
                )
        for axes in (by_channels, by_frames):
            axes.set(xscale="log", yscale="log")
        of_memory.set(xscale="log", ylim=(0, 4.3))
        of_memory.axhline(4, color="#1d2733", lw=0.8, ls=":")
        for axes in (by_channels, by_frames, of_memory):
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
    rows[0, 2].legend(frameon=False, fontsize=9, loc="center left")
    figure.savefig(path, dpi=72)
    plt.close(figure)


def print_report(results: Results) -> None:
    for name, text in sections(results).items():
        print(f"\n{name}\n\n{text}")


def write_report(results: Results, docs: Path) -> None:
    """Replace the text between the marks of each table of the page, and draw the plot."""
    page, tables = docs / "measurements" / "performance.md", sections(results)
    text = page.read_text()
    for name, content in tables.items():
        text = filled(text, name, content)
    page.write_text(text)
    plot(results, docs / "figures" / "performance.png")


def add_options(parser: argparse.ArgumentParser) -> None:
    default = ROOT / "docs" / "measurements" / "performance.json"
    parser.add_argument("results", type=Path, nargs="?", default=default, help="a file of `bench.py bakes`")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder of measurements/performance.md")


def run(options: argparse.Namespace) -> None:
    write_report(Results.read(options.results), options.docs)
