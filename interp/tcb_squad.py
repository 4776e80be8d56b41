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
    log_before = sphere.log(sphere.product(sphere.conjugate(before), q))
    log_after = sphere.log(sphere.product(sphere.conjugate(q), after))
    # With the other rule, the controls at ends are set below from the inner controls.
    incoming, outgoing = tangents(tracks, log_before, log_after, "3DS")
    first, last = tracks.open
    if ends == "TANGENT":
        incoming_controls = sphere.product(q, sphere.exp(-incoming / 3.0))
        outgoing_controls = sphere.product(q, sphere.exp(outgoing / 3.0))
        after_first, before_last = controls_at_ends(keys, incoming_controls, outgoing_controls)
        outgoing[:, first] = 3.0 * sphere.log(sphere.product(sphere.conjugate(q[:, first]), after_first))
        incoming[:, last] = -3.0 * sphere.log(sphere.product(sphere.conjugate(q[:, last]), before_last))
    controls_after = sphere.product(q, sphere.exp((outgoing - log_after) / 2.0))
    controls_before = sphere.product(q, sphere.exp((log_before - incoming) / 2.0))
    return controls_after, controls_before
