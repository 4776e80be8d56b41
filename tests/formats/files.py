# SPDX-License-Identifier: GPL-3.0-or-later
"""The real files in the shared data folder."""

FILES = [
    "CameraRollAnim.3ds",
    "CameraRollAnimWithChildObject.3ds",
    "RotatingCube.3DS",
    "TargetCameraAnim.3ds",
    "claw.3DS",
    "mak_running.3DS",
    "skull.3ds",
    "tcb_fixture_lib3ds.3ds",
    "test1.3ds",
]
