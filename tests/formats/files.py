# SPDX-License-Identifier: GPL-3.0-or-later
"""Files in the shared data folder: real files, and a file that was made for tests with lib3ds."""

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

SLOW_FILES = ["risu.3ds"]
"""Files that are too large to import in tests for each frame."""
