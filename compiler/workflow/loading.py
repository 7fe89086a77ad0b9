"""From paths to works: read, check, build the model. All errors of all files at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from compiler import model, source
from compiler.diagnostics import Diagnostics, Span
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Overrides, Stack, Volume
from compiler.source import Kind, Unit
from compiler.source.reading import shown_path
from compiler.workflow.secret_flags import secrets_by_unit
from compiler.workflow.works import Document, Work, named


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the paths hold; `inputs` maps the files read to the sha256 of their text.

    `known_volumes` are the volumes of the set by name, also those that are not in the paths.
    """

    works: tuple[Work, ...] = ()
    stacks: tuple[Stack, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    known_volumes: Mapping[str, Volume] = field(default_factory=dict)


def load(
    paths: Sequence[str],
    diagnostics: Diagnostics,
    *,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
    root: str | None = None,
    check_files: bool = True,
) -> Loaded:
    """Everything at `paths` (files, folders, `-`); what is wrong goes to `diagnostics`.

    `root` is where the tasks' relative paths start (None: the current folder). Documents
    with errors are left out of the result.
    """
    overrides = overrides or Overrides()
    builder = _Builder(diagnostics, overrides, environ or {}, root, check_files)
    inputs: dict[str, str] = {}
    units = source.read_units(paths, diagnostics)
    given = secrets_by_unit(units, overrides, complete=not diagnostics.has_errors)
    for unit, pairs in zip(units, given, strict=True):
        builder.options["overrides"] = replace(overrides, secret=pairs)
        text = unit.source.text
        inputs[unit.source.path] = hashlib.sha256(text.encode()).hexdigest()
        builder.add(unit)
    return Loaded(
        works=named(builder.found, diagnostics),
        stacks=tuple(builder.stacks),
        inputs=inputs,
    )


def load_stack(path: str, diagnostics: Diagnostics) -> Stack | None:
    """The stack at `path`, or None with the reasons in `diagnostics`."""
    if os.path.isdir(path):  # noqa: PTH112 (pathlib raises for overlong names)
        shown = shown_path(path)
        diagnostics.add(
            codes.NOT_A_STACK.at(None, f"`{shown}` is a folder", hint="name the stack file in it")
        )
        return None
    units = source.read_units([path], diagnostics)
    for unit in units:
        if unit.kind is Kind.STACK:
            return model.build_stack(unit.documents[0], diagnostics)
        diagnostics.add(
            codes.NOT_A_STACK.at(
                Span.of_whole_line(unit.source, 1),
                f"this is a {unit.kind}, and no stack",
                expected="a document with `set:` and `targets:`",
            )
        )
    return None


class _Builder:
    """Builds the model of one unit after the other and sorts the results by kind."""

    def __init__(self, diagnostics, overrides, environ, root, check_files) -> None:
        self.diagnostics: Diagnostics = diagnostics
        self.options = {
            "overrides": overrides,
            "environ": environ,
            "root": root,
            "check_files": check_files,
            "lookup": find_devices,
        }
        self.found: list[Document] = []
        self.stacks: list[Stack] = []

    def add(self, unit: Unit) -> None:
        header, documents = unit.header, unit.documents
        if unit.kind is Kind.STACK:
            _keep(self.stacks, model.build_stack(documents[0], self.diagnostics))
        elif unit.kind is Kind.VOLUME:
            for document in documents:
                _keep(self.found, model.build_volume(document, self.diagnostics))
        elif unit.kind is Kind.TASK:
            _keep(self.found, model.build_task(documents[0], self.diagnostics, **self.options))
        elif unit.kind is Kind.GROUP and header is not None:
            group = model.build_group(header, documents, self.diagnostics, **self.options)
            _keep(self.found, group)
        else:
            pipeline = model.build_pipeline(header, documents, self.diagnostics, **self.options)
            _keep(self.found, pipeline)


def _keep(kept: list, built: object) -> None:
    if built is not None:
        kept.append(built)


def find_devices(gib: float, at_least: bool, maker: str | None) -> Sequence[str]:
    """Names of the devices with that much memory, as the model asks for them."""
    from compiler.catalog import by_memory

    return by_memory(f"{gib:g}GB{'+' * at_least}", maker) or ()
