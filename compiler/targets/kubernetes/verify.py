"""Checking the text of a manifest for what it is, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from compiler.diagnostics import Diagnostic, SourceText, Span
from compiler.diagnostics.codes import kubernetes as codes
from compiler.model import TargetSpec
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.targets.kubernetes.findings import all_findings, as_diagnostics
from compiler.targets.kubernetes.scalars import Path
from compiler.targets.kubernetes.schema import nearest_version

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LARGEST_MEMORY = 4096
# Texts that rendering emitted from data which it had checked: reading them back would find
# what is reported already, at a worse place.
_checked: dict[tuple[str, str], None] = {}


def remember_checked(artifact: Artifact, version: str | None) -> None:
    """Say that the data behind an artifact has been checked for this version."""
    if len(_checked) >= _LARGEST_MEMORY:
        _checked.clear()
    _checked[artifact.text, nearest_version(version)] = None


def verify(artifact: Artifact, target: TargetSpec) -> Iterator[Diagnostic]:
    """The faults of a manifest's text, at their places in it."""
    if artifact.kind is not ArtifactKind.MANIFEST:
        return
    if (artifact.text, nearest_version(target.version)) in _checked:
        return
    source = SourceText(artifact.path, artifact.text)
    try:
        body = yaml.load(artifact.text, Loader=_Loader)
    except yaml.YAMLError as error:
        yield codes.UNREADABLE.at(
            _marked(source, error), f"not a YAML document: {error}", target=target.key
        )
        return
    findings = all_findings(body, target.version)
    if findings:
        root = yaml.compose(artifact.text, Loader=_Loader)
        yield from as_diagnostics(
            findings,
            lambda path, at_key: _position(source, root, path, at_key),
            target=target.key,
            fallback=Span.of_whole_line(source, 1),
            address=artifact.name,
        )


def _position(source: SourceText, node: yaml.Node | None, path: Path, at_key: bool) -> Span | None:
    """The range of the value at `path`, or of the nearest thing around it that is there."""
    key: yaml.Node | None = None
    for step in path:
        found = _child(node, step)
        if found is None:
            break
        key, node = found
    wanted = key if at_key and key is not None else node
    return _span(source, wanted) if wanted is not None else None


def _child(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step], node.value[step]
    return None


def _span(source: SourceText, node: yaml.Node) -> Span:
    start, end = node.start_mark, node.end_mark
    return Span(source, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _marked(source: SourceText, error: yaml.YAMLError) -> Span:
    mark = getattr(error, "problem_mark", None)
    return Span.of_whole_line(source, mark.line + 1 if mark is not None else 1)
