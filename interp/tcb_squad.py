# SPDX-License-Identifier: GPL-3.0-or-later
"""Squad controls from tension, continuity and bias, as in 3D Studio R3 and 3ds Max. Source: docs/formulas, "Squad"."""

from __future__ import annotations

from .keys import Float64Array
from .rotations import sphere
from .tcb_tangents import Ends, RotationKeys, controls_at_ends, tangents


def squad_controls(keys: RotationKeys, ends: Ends) -> tuple[Float64Array, Float64Array]:
    """Return the control quaternions after and before each key (docs/formulas, "Squad").

    The formulas' ksm, ksp, kdm, kdp are the factors of `tangents`, applied here to the logarithms of turns.
    """
    tracks, q, before, after, _ = keys
    from_before = sphere.log(sphere.product(sphere.conjugate(before), q))
    to_after = sphere.log(sphere.product(sphere.conjugate(q), after))
    # With the other rule, the controls at ends are set below from the inner controls.
    incoming, outgoing = tangents(tracks, from_before, to_after, "3DS")
    first, last = tracks.open
    if ends == "TANGENT":
        controls = (sphere.product(q, sphere.exp(tangent / 3.0)) for tangent in (-incoming, outgoing))
        start, end = controls_at_ends(keys, *controls)
        outgoing[:, first] = 3.0 * sphere.log(sphere.product(sphere.conjugate(q[:, first]), start))
        incoming[:, last] = -3.0 * sphere.log(sphere.product(sphere.conjugate(q[:, last]), end))
    after_key = sphere.product(q, sphere.exp((outgoing - to_after) / 2.0))
    before_key = sphere.product(q, sphere.exp((from_before - incoming) / 2.0))
    return after_key, before_key
