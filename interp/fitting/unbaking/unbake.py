# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys that dense curves were made from, with what is between them.

Source: docs/formulas.md, "Keys of baked curves".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...batch import IndexArray
from ...keys import Float64Array
from ...rotations.quaternions import unroll_signs
from ...splines import tcb
from .curves import (
    Curves,
    DeCasteljauCurves,
    HandleCurves,
    RotationVectorCurves,
    SquadCurves,
    Starts,
    ValueCurves,
    Windows,
    tangents_for,
)
from .parameters import KnownKeys, find_parameters, spline_of
from .search import CURVE, EASED, HOLD, LINE, Path, Search, fit_kind

_Construction = tcb.Construction | Literal["ROTATION_VECTORS", "HANDLES"]
VALUE_NOISE = (4e-7, 1e-5)
"""Errors of samples, as parts of the largest: float32 rounds by 6e-8 of it, Blender's handles by up to 4e-6."""
TURN_NOISE = (1e-6, 3e-5)
"""The same of rotations, radians."""
_PLAYED = 8.0
"""Keys play the samples if they are off by at most so many times the noise."""
_CHEAPER = 0.5
"""Half a key: less is no reason to take curves that are tried later."""
_ROUNDS = 4
_WELL_KNOWN = 3
"""Frames of a segment whose samples tell both of its tangents."""


@dataclass(frozen=True, eq=False)
class Unbaked:
    """Keys, and the segments between them.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The samples at whose frames the keys are; the first and the last are among them.
    values : ndarray, shape (n, d)
        Those samples.
    kinds : ndarray of int, shape (n - 1,)
        HOLD, LINE, CURVE or EASED.
    tangents : ndarray, shape (n - 1, 2, d)
        Of each segment at its ends, by its own parameter; of rotations angular velocities in the parent's frame.
    eases : ndarray, shape (n - 1, 2)
        Ease from the segment's first key, and to its last.
    construction : str or None
        "DE_CASTELJAU", "SQUAD" or "ROTATION_VECTORS": what the segments of a rotation are. "HANDLES" for numbers by
        handles as long as Blender's automatic ones, None for cubics.
    parameters : ndarray, shape (d, 5, n) or (1, 5, n), or None
        Those with which TCB plays the samples, of each number or of all; None where it can't.
    ends : "3DS" or "TANGENT"
        The rule for the ends of rotations by TCB.
    velocities : ndarray, shape (n, d), or None
        Those a frame with which Hermite's splines play the samples, of rotations angular ones in the parent's frame;
        None where they can't: at corners, with eases, by arcs on the sphere.
    noise : ndarray, shape (d,) or (1,)
        To which curves play the samples.
    """

    rows: IndexArray
    values: Float64Array
    kinds: IndexArray
    tangents: Float64Array
    eases: Float64Array
    construction: _Construction | None
    parameters: Float64Array | None
    ends: tcb.Ends
    velocities: Float64Array | None
    noise: Float64Array


def unbake_values(samples: npt.ArrayLike) -> Unbaked | None:
    """Return the keys that samples of numbers were made from.

    Parameters
    ----------
    samples : array_like, shape (frames, d)
        One a frame, as float32 has them.

    Returns
    -------
    Unbaked or None
        None where no keys are found between which the samples are cubics, with eases or without, lines or holds, to
        1e-5 of the largest.
    """
    own = np.asarray(samples, dtype=np.float64)
    size = np.maximum(np.abs(own).max(axis=0), np.ptp(own, axis=0).max()) + np.finfo(np.float64).tiny
    cubics = handles = None
    starts: Starts = {}
    for noise in VALUE_NOISE:
        is_exact = noise == VALUE_NOISE[0]
        cubics = Search(ValueCurves(own, noise * size, starts), is_exact, cubics)
        handles = Search(HandleCurves(own, noise * size, starts), is_exact, handles)
        tries: list[tuple[Search, bool, _Construction | None]] = [
            (cubics, False, None),
            (handles, False, "HANDLES"),
            (cubics, True, None),
        ]
        found = _found(tries)
        if found is not None:
            return found
    return None


def unbake_rotations(quaternions: npt.ArrayLike) -> Unbaked | None:
    """Return the keys that samples of rotations (frames, 4), w first, were made from, as `unbake_values` does."""
    own = np.array(quaternions, dtype=np.float64)
    own = unroll_signs(own / np.linalg.norm(own, axis=1, keepdims=True))
    names = list(_CONSTRUCTIONS)
    searches: dict[_Construction, Search] = {}
    starts: Starts = {}
    for noise in TURN_NOISE:
        # About one axis all constructions play the same.
        tried = names[:1] if _off_circle(own) <= noise else names
        for name in tried:
            curves = _CONSTRUCTIONS[name](own, np.array([noise]), starts)
            searches[name] = Search(curves, noise == TURN_NOISE[0], searches.get(name))
        tries: list[tuple[Search, bool, _Construction | None]] = [(searches[name], False, name) for name in tried]
        # Only TCB has eases.
        tries += [(searches[name], True, name) for name in tried[:2]]
        found = _found(tries)
        if found is not None:
            return found
    return None


def _found(tries: list[tuple[Search, bool, _Construction | None]]) -> Unbaked | None:
    """Return the keys of the first search that finds some, or where samples don't tell all of these, the cheapest."""
    best: tuple[Path, Search, _Construction | None] | None = None
    for search, is_eased, name in tries:
        path = search.find_path(is_eased)
        if path is not None and (best is None or path.cost < best[0].cost - _CHEAPER):
            best = path, search, name
        if best is not None and best[0].is_told:
            break
    return None if best is None else _unbaked(best[1].curves, best[0], best[2])


def _off_circle(quaternions: Float64Array) -> float:
    """Return by how much of a turn quaternions (n, 4) leave those about the axis nearest to theirs, radians."""
    across = np.linalg.svd(quaternions, full_matrices=False)[2][2:]
    return float(2.0 * np.linalg.norm(quaternions @ across.T, axis=1).max())


_CONSTRUCTIONS: dict[_Construction, type[Curves]] = {
    "DE_CASTELJAU": DeCasteljauCurves,
    "SQUAD": SquadCurves,
    "ROTATION_VECTORS": RotationVectorCurves,
}


def _unbaked(curves: Curves, path: Path, construction: _Construction | None) -> Unbaked:
    tangents, eases = _segments(curves, path)
    found = Unbaked(
        rows=path.rows,
        values=curves.samples[path.rows],
        kinds=path.kinds,
        tangents=tangents,
        eases=eases,
        construction=construction,
        parameters=None,
        ends="3DS",
        velocities=_velocities(curves, path, tangents) if construction in (None, "ROTATION_VECTORS") else None,
        noise=curves.noise,
    )
    return _with_parameters(curves, found)


def _velocities(curves: Curves, path: Path, tangents: Float64Array) -> Float64Array | None:
    """Return the velocities of keys, if both sides have the same; beside lines and holds those of the curve."""
    lengths = np.diff(path.rows)[:, np.newaxis]
    leaving, arriving = tangents[:, 0] / lengths, tangents[:, 1] / lengths
    ends = np.zeros((1, leaving.shape[1]))
    leaving, arriving = np.concatenate([leaving, ends]), np.concatenate([ends, arriving])
    is_curve = path.kinds >= CURVE
    before, after = np.append(False, is_curve), np.append(is_curve, False)
    # A cubic is off by at most 4/27 of its length for a velocity of 1.
    reach = 0.15 * np.maximum(np.append(0, lengths), np.append(lengths, 0))[:, np.newaxis]
    corners = (np.abs(arriving - leaving) * reach > _PLAYED * curves.noise).any(axis=1) & before & after
    if corners.any() or (path.kinds == EASED).any():
        return None
    velocities: Float64Array = np.where(after[:, np.newaxis], leaving, arriving)
    both = (before & after)[:, np.newaxis]
    return np.where(both, (leaving + arriving) / 2.0, velocities)


def _segments(curves: Curves, path: Path) -> tuple[Float64Array, Float64Array]:
    """Return tangents and eases of the segments; where samples don't tell tangents, they go on from beside."""
    rows, lengths = path.rows, np.diff(path.rows)
    chords = curves.chords(rows[:-1], rows[1:])
    tangents, eases = np.repeat(chords[:, np.newaxis], 2, axis=1), np.zeros((len(lengths), 2))
    tangents[path.kinds == HOLD] = 0.0
    told = (lengths >= _WELL_KNOWN) | (path.kinds <= LINE)
    for number in np.flatnonzero(told & (path.kinds > LINE)).tolist():
        found = fit_kind(curves, Windows.between(rows[number], rows[number + 1]), int(path.kinds[number]))
        tangents[number], eases[number] = found.tangents[0], found.eases[0]
    for number in np.flatnonzero(~told).tolist():
        for end, beside in ((0, number - 1), (1, number + 1)):
            if 0 <= beside < len(told) and told[beside]:
                tangents[number, end] = tangents[beside, 1 - end] * (lengths[number] / lengths[beside])
        tangents[number] = _through(curves, rows[number], rows[number + 1], tangents[number])
    return tangents, eases


def _through(curves: Curves, first: int, last: int, tangents: Float64Array) -> Float64Array:
    """Return tangents as near to the given ones as can be with which a short curve meets the sample between."""
    windows = Windows.between(first, last)
    for _ in range(_ROUNDS if last - first > 1 else 0):
        u = curves.timing(windows.local)
        tangents = tangents + tangents_for(u, curves.off(windows, u, tangents[np.newaxis]))[0][0]
    return tangents


def _runs(kinds: IndexArray) -> Iterator[tuple[int, int]]:
    """Give the first and the last key of each run of curves."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], (kinds >= CURVE).astype(np.int8), [0]))))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _with_parameters(curves: Curves, found: Unbaked) -> Unbaked:
    """Return the keys with parameters, where TCB plays the samples with them."""
    if found.construction in ("ROTATION_VECTORS", "HANDLES") or not (found.kinds >= CURVE).any():
        return found
    ends: tuple[tcb.Ends, ...] = ("TANGENT",) if found.construction is None else ("3DS", "TANGENT")
    columns = [slice(None)]
    if found.construction is None and found.values.shape[1] > 1:
        columns += [slice(column, column + 1) for column in range(found.values.shape[1])]
    for rule in ends:
        options = None if found.construction is None else {"construction": found.construction, "ends": rule}
        together = _fitted(curves, found, options, columns[0])
        if together is not None:
            return replace(found, parameters=together[np.newaxis], ends=rule)
    own = [_fitted(curves, found, None, column) for column in columns[1:]]
    if own and all(each is not None for each in own):
        return replace(found, parameters=np.stack([each for each in own if each is not None]))
    return found


def _fitted(curves: Curves, found: Unbaked, options: dict[str, Any] | None, columns: slice) -> Float64Array | None:
    """Return the parameters of some numbers, or of a rotation, or None where TCB does not play the samples."""
    parameters = np.zeros((5, len(found.rows)))
    for first, last in _runs(found.kinds):
        keys = slice(first, last + 1)
        best: tuple[float, Float64Array] = (_PLAYED, parameters[:, keys])
        for untold in (0.0, 1.0):
            known = _known(found, first, last, untold, columns if options is None else slice(None))
            tried = find_parameters(known, options)
            error = _error(curves, known, tried, options, columns)
            if error < best[0]:
                best = error, _rounded(curves, known, tried, options, columns, max(error, 1.0))
            if (np.diff(found.rows[keys]) >= _WELL_KNOWN).all():
                break
        if best[0] >= _PLAYED:
            return None
        parameters[:, keys] = best[1]
    return parameters


def _known(found: Unbaked, first: int, last: int, untold: float, columns: slice) -> KnownKeys:
    """Return the keys of a run, with a weight for tangents that samples don't tell."""
    keys, own = slice(first, last + 1), slice(first, last)
    tangents, eases = found.tangents[own][..., columns], found.eases[own]
    none = np.zeros_like(tangents[:1, 0])
    weights = np.where(np.diff(found.rows[keys]) >= _WELL_KNOWN, 1.0, untold)
    values = found.values[keys] if found.construction is not None else found.values[keys, columns]
    return KnownKeys(
        found.rows[keys].astype(np.float64),
        values,
        np.concatenate([none, tangents[:, 1]]),
        np.concatenate([tangents[:, 0], none]),
        np.stack([np.append(1.0, weights), np.append(weights, 1.0)], axis=1),
        np.stack([np.append(0.0, eases[:, 1]), np.append(eases[:, 0], 0.0)]),
    )


def _error(
    curves: Curves, known: KnownKeys, parameters: Float64Array, options: dict[str, Any] | None, columns: slice
) -> float:
    """Return the largest error of what is played, as a part of the noise."""
    frames = np.arange(known.frames[0], known.frames[-1] + 1.0)
    played = spline_of(known, parameters, options)(frames)
    samples = curves.samples[int(frames[0]) : int(frames[-1]) + 1]
    if options is None:
        return float((np.abs(played - samples[:, columns]) / curves.noise[columns]).max())
    # The chord is a quarter as precise as float64 where angles are small, and precise enough.
    apart = np.minimum(np.linalg.norm(played - samples, axis=1), np.linalg.norm(played + samples, axis=1))
    return float((4.0 * np.arcsin(np.minimum(apart / 2.0, 1.0))).max() / curves.noise[0])


def _rounded(
    curves: Curves,
    known: KnownKeys,
    parameters: Float64Array,
    options: dict[str, Any] | None,
    columns: slice,
    most: float,
) -> Float64Array:
    """Return the parameters with as few digits as play the samples as well."""
    for digits in (1, 2, 3):
        short = np.round(parameters, digits)
        if _error(curves, known, short, options, columns) <= most:
            return short
    return parameters
