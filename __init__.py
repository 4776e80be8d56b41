# SPDX-License-Identifier: GPL-3.0-or-later
"""TCB Animation: tension, continuity, bias and ease for Blender's keyframes."""

# The interpolation core works without Blender, so a package that contains it must import without Blender.
from __future__ import annotations

import sys
from types import ModuleType

_session_before_reload: ModuleType | None = None
"""The module with the rows of copied keys that are not in an action, as it was before Reload Scripts."""

if "register" in globals():
    # Reload Scripts runs only this module again. Other modules are imported again when they are needed.
    _session_before_reload = sys.modules.get(f"{__name__}.animation.store.table.session")
    for _name in [name for name in sys.modules if name.startswith(f"{__name__}.")]:
        del sys.modules[_name]
        globals().pop(_name.removeprefix(f"{__name__}."), None)


def register() -> None:
    """Register everything. Blender calls this when the extension is enabled.

    Raises RuntimeError before registration if another installation is enabled, because both would have the same
    operators.
    """
    other = _other_copy()
    if other:
        from .animation.text import n_, rpt_

        text = n_('TCB Animation is already enabled from "{:s}". Disable that installation, then enable "{:s}"')
        raise RuntimeError(rpt_(text, other, __name__))
    for module in _modules():
        module.register()
    if _session_before_reload is not None:
        from .animation.store.table.session import session

        session.rows.add(_session_before_reload.session.rows[:])


def unregister() -> None:
    """Unregister everything. Blender calls this when the extension is disabled, or when enabling has failed."""
    if _other_copy():
        return
    for module in reversed(_modules()):
        module.unregister()


def _modules() -> tuple[ModuleType, ...]:
    """Return the modules with registration, in order of registration."""
    from . import cli, operators, panels
    from .ui import keymaps, languages, preferences, properties, redraw
    from .ui.live import handlers

    return languages, properties, redraw, handlers, operators, panels, keymaps, preferences, cli


def _other_copy() -> str:
    """Return the name of an add-on that is enabled from another installation, or an empty string."""
    import bpy

    operator = getattr(bpy.types, "TCB_OT_enable", None)
    package = "" if operator is None else operator.__module__.removesuffix(".operators.bake")
    return "" if package == __name__ else package
