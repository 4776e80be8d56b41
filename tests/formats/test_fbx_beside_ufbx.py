# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated transforms of FBX files made by hand, compared with ufbx's evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from formats import fbx
from tests.formats.fbx_layout import AUTO, CONSTANT, CUBIC, LINEAR, NEXT, TCB, USER, KeyCurve, Model, scene_bytes

TIMES = (0.0, 0.5, 0.75, 2.0, 2.5)
KINDS = (CUBIC | AUTO, CUBIC | AUTO | 0x1000, CUBIC | AUTO | 0x4000, CUBIC | USER, CUBIC | TCB, LINEAR, CONSTANT | NEXT)


def random_model(rng: np.random.Generator, layer_count: int) -> Model:
    """Return a model with random keys of all kinds in its layers, with pivots, prerotation and postrotation."""
    names = ("PreRotation", "PostRotation", "RotationOffset", "RotationPivot", "ScalingOffset", "ScalingPivot")
    given = {name: tuple(rng.normal(size=3) * 20.0) for name in names}
    given["RotationActive"], given["RotationOrder"] = (1,), (int(rng.integers(6)),)
    layers: list[dict[str, list[KeyCurve]]] = [{}, {}]
    for curves in layers[:layer_count]:
        for name, size in (("Lcl Translation", 10.0), ("Lcl Rotation", 60.0), ("Lcl Scaling", 1.0)):
            curves[name] = [
                KeyCurve(
                    TIMES, rng.normal(size=5) * size, rng.choice(KINDS, 5).tolist(), rng.normal(size=(5, 4)).tolist()
                )
                for _ in range(3)
            ]
    given |= {f"Lcl {name}": tuple(rng.normal(size=3) * 40.0) for name in ("Translation", "Rotation", "Scaling")}
    return Model("Box", 0, given, *layers)


@pytest.mark.parametrize("layer_count", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_transforms_between_keys_are_those_of_ufbx(seed: int, layer_count: int) -> None:
    ufbx = pytest.importorskip("ufbx")
    content = scene_bytes([random_model(np.random.default_rng(seed), layer_count)])
    file = fbx.read(content)
    (take,), (node,) = file.takes, file.nodes
    motion = take.motions[0]
    scene = ufbx.load_memory(content)
    # The elements of temporary lists are freed with the lists.
    stacks, nodes = list(scene.anim_stacks), list(scene.nodes)
    (anim,), (box,) = [stack.anim for stack in stacks], [node for node in nodes if node.name == "Box"]
    at = np.linspace(0.0, 2.5, 81)
    transforms = [ufbx.evaluate_transform(anim, box, time) for time in at.tolist()]
    translations, scales = ([tuple(getattr(each, name)) for each in transforms] for name in ("translation", "scale"))
    quaternions = np.array([(each.rotation.w, *tuple(each.rotation)[:3]) for each in transforms])
    q = motion.tracks["rotation"].evaluate(at)
    q *= np.sign((q * quaternions).sum(axis=1))[:, np.newaxis]
    np.testing.assert_allclose(motion.tracks["translation"].evaluate(at), translations, atol=1e-3)
    np.testing.assert_allclose(q, quaternions, atol=1e-4)
    np.testing.assert_allclose(motion.tracks["scale"].evaluate(at), scales, atol=1e-5)
    still = box.local_transform
    np.testing.assert_allclose(node.translation, tuple(still.translation), atol=1e-12)
    np.testing.assert_allclose(node.scale, tuple(still.scale), atol=1e-12)
    np.testing.assert_allclose(np.abs(node.rotation @ (still.rotation.w, *tuple(still.rotation)[:3])), 1.0, atol=1e-12)


def test_clamped_keys_are_flat_only_beside_an_equal_key() -> None:
    """ufbx's `key_clamp_threshold` is 0 unless a program sets it."""
    ufbx = pytest.importorskip("ufbx")
    curves = [KeyCurve((0.0, 1.0, 2.0), (0.0, rise, 100.0), [CUBIC | AUTO | 0x1000] * 3) for rise in (0.0, 5e-4, 1.0)]
    content = scene_bytes([Model("Box", 0, {}, {"Lcl Translation": curves})])
    (take,) = fbx.read(content).takes
    at = np.linspace(0.0, 2.0, 41)
    expected = [
        [ufbx.evaluate_curve(curve, time, 0.0) for time in at] for curve in ufbx.load_memory(content).anim_curves
    ]
    np.testing.assert_allclose(take.motions[0].tracks["translation"].evaluate(at), np.transpose(expected), atol=1e-4)
