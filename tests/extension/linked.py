# SPDX-License-Identifier: GPL-3.0-or-later
"""Link a checkout into Blender's folder of extensions, enable it, and reload: `python linked.py CHECKOUT USER`."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

CHECKOUT, USER = sys.argv[1:]
PACKAGE = "bl_ext.user_default.tcb_animation"


def main() -> None:
    os.environ["BLENDER_USER_RESOURCES"] = USER
    import bpy

    folder = bpy.utils.user_resource("EXTENSIONS", path="user_default", create=True)
    Path(folder, "tcb_animation").symlink_to(CHECKOUT, target_is_directory=True)
    bpy.ops.extensions.repo_refresh_all()
    importlib.import_module("addon_utils").enable(PACKAGE, default_set=True)
    before = sys.modules[f"{PACKAGE}.operators.bake"]
    bpy.utils.load_scripts(reload_scripts=True)  # the same as Reload Scripts
    after = sys.modules[f"{PACKAGE}.operators.bake"]
    is_linked = Path(str(after.__file__)).resolve() == Path(CHECKOUT, "operators", "bake.py").resolve()
    registered = bpy.types.Operator.bl_rna_get_subclass_py("TCB_OT_bake")
    print(is_linked, after is not before, registered is after.TCB_OT_bake)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
