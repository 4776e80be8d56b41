# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `import`: a 3D Studio file to a .blend."""

from __future__ import annotations

from typing import Any

import bpy

from ...animation.errors import AnimationError, Finding
from ...animation.steps import IMPORT_STEPS
from ...exchange.conversion import Conversion, conversion_of
from ...exchange.importing.importer import ImportOptions, import_files, set_range
from ...exchange.rotation_keys import Choices
from ...formats import three_ds
from ...interp.messages import Text
from ..arguments.parser import Job
from ..blend_files import Source, check_target, unusable, version_of
from ..log import save_result
from ..outcome import Outcome, Ticker
from ..streams import signals_held_back


def import_file(job: Job, number: int, outcome: Outcome) -> None:
    """Read the file into an empty scene, and write that. Raises AnimationError."""
    target = job.targets[number]
    check_target(target, job.makes_folder)
    try:
        read = three_ds.read(outcome.file.read_bytes())
    except OSError as error:
        raise unusable("FILE_NOT_READ", error.strerror) from error
    except three_ds.ThreeDSError as error:
        raise AnimationError(Finding("FILE_NOT_3DS", arguments=(Text(error.text, *error.values),))) from error
    version = version_of(outcome.file)
    if version is None:
        raise unusable("FILE_GONE")
    with signals_held_back():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    context: Any = bpy.context
    given = job.exchange
    options = _options(given, context.scene)
    ticker = Ticker(outcome.file, IMPORT_STEPS)
    done = import_files({outcome.file.name: read}, context.scene, context.collection, options, ticker)
    set_range(context.scene, [read], options.conversion, None if given["keep_time"] else given["rate"])
    outcome.report.add(done.summed())
    outcome.report.errors += [*done.damage, *done.baked.refused]
    outcome.report.notes += [*done.lines(), *done.notes]
    source = Source(compressed=False, version=version, libraries={})
    save_result(job, number, outcome, source)


def _options(given: dict[str, Any], scene: bpy.types.Scene) -> ImportOptions:
    conversion = conversion_for(given, scene, given["scale"])
    choices = Choices(given["euler"], given["shorter_turns"], given["between"])
    return ImportOptions(conversion, choices, output=given["bake"], sample_limit=given["sample_limit"])


def conversion_for(given: dict[str, Any], scene: bpy.types.Scene, scale: float) -> Conversion:
    """Return the conversion that was asked for, with Blender units a unit of the file. Raises AnimationError."""
    rate = given["rate"] if given["keep_time"] else None
    try:
        return conversion_of(scene, given["forward"], given["up"], scale, given["start"], rate)
    except ValueError as error:
        raise unusable("OPTIONS", error) from error
