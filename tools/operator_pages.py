# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the operators of the extension, which must be registered, in Markdown."""

from __future__ import annotations

from types import ModuleType
from typing import Any

OPERATOR_MODULES = ("tcb", "import_anim", "export_anim")
"""The modules of `bpy.ops` with operators of the extension."""
SET_IF_GIVEN = ("tcb.key_set", "tcb.track_choose")
"""Operators that set only the given properties and ignore Blender's defaults."""


def operators(animation: ModuleType) -> dict[str, tuple[str, Any]]:
    """Return the module and the properties of each operator of the extension, by its name after `bpy.ops.`."""
    import bpy

    # The operators are in a package beside `animation`.
    package = f"{animation.__name__.rpartition('.')[0]}.operators."
    registered = {}
    for module in OPERATOR_MODULES:
        for name in sorted(dir(getattr(bpy.ops, module))):
            cls = getattr(bpy.types, f"{module.upper()}_OT_{name}", None)
            if cls is not None and cls.__module__.startswith(package):
                rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
                registered[f"{module}.{name}"] = cls.__module__.removeprefix(package), rna
    return registered


def operator_section(name: str, rna: Any) -> str:
    """Return the section of an operator, with its properties."""
    parts = [f"## `bpy.ops.{name}`\n", f"*{rna.name}.* {' '.join(rna.description.split())}.\n"]
    lines = [
        _property(rna_property, leaves_unset=name in SET_IF_GIVEN)
        for rna_property in rna.properties
        if rna_property.identifier != "rna_type" and not rna_property.identifier.startswith("filter_")
    ]
    if lines:
        parts.append("\n".join(sorted(lines)) + "\n")
    return "\n".join(parts)


def _property(rna_property: Any, leaves_unset: bool) -> str:
    """Return the line of an operator's property. If `leaves_unset`, an omitted property changes nothing."""
    is_flag = rna_property.type == "ENUM" and rna_property.is_enum_flag
    default: Any = ", ".join(sorted(rna_property.default_flag)) if is_flag else getattr(rna_property, "default", None)
    kind = rna_property.type.lower()
    if rna_property.type in ("INT", "FLOAT") and rna_property.array_length:
        kind = f"{rna_property.array_length} {kind}s"
        default = ", ".join(f"{number:g}" for number in rna_property.default_array)
    elif rna_property.type == "FLOAT":
        default = f"{default:g}"
    elif rna_property.type == "STRING":
        default = repr(default)
    elif rna_property.type == "ENUM":
        items = [item.identifier for item in rna_property.enum_items]
        of = "set" if is_flag else "one"
        kind = f"{of} of {', '.join(items)}" if items else "a name"
    elif rna_property.type == "COLLECTION":
        kind, default = "list", "empty"
    description = " ".join(rna_property.description.split())
    if rna_property.identifier.endswith("_of_50"):
        # These properties repeat a parameter in 3D Studio's units.
        description = f"{description}; as 0 to 50"
    default_text = "unchanged if not given" if leaves_unset else f"default {default}"
    return f"- **{rna_property.identifier}**: {kind}, {default_text}" + (f". {description}" if description else "")
