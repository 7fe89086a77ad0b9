"""What a file is: a task, a pipeline, a group, volumes or a stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compiler.diagnostics import Diagnostics, Related, Severity, SourceText
from compiler.diagnostics.codes import source as codes
from compiler.source.document import Document, Kind
from compiler.source.suggestions import suggest

_VOLUME_TYPES = ("k8s-", "aws-", "runpod-")
_HEADER_FIELDS = frozenset({"name", "execution"})
_GROUP_FIELDS = _HEADER_FIELDS | {"primary_tasks", "termination_delay", "inter_connection"}
_EXECUTIONS = ("parallel", "serial")

# Fields that only a task has. `name`, `config`, `secrets` say nothing: others have them too.
_TASK_FIELDS = frozenset(
    {
        "api_server_access",
        "envs",
        "event_callback",
        "file_mounts",
        "inputs",
        "managed_secrets",
        "num_nodes",
        "outputs",
        "pool",
        "resources",
        "run",
        "service",
        "setup",
        "volumes",
        "workdir",
    }
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What the documents of one file are together.

    TASK, VOLUME and STACK have one document, PIPELINE has its tasks in order (with or without a
    header), GROUP a header and its tasks. `documents` is empty where reading failed.
    """

    kind: Kind
    header: Document | None
    documents: tuple[Document, ...]

    @property
    def source(self) -> SourceText:
        """The text of the file; raises IndexError where reading failed."""
        return (self.header or self.documents[0]).source


_OURS = _TASK_FIELDS | _GROUP_FIELDS - {"name"} | {"targets", "set", "config", "secrets"}
KNOWN_FIELDS = _OURS | {"name"}
"""Fields at the top of one kind of document or another."""
_LONG_NAMES = sorted(name for name in _OURS if len(name) > 4)


def classify(data: dict[str, Any]) -> Kind:
    """What one document is on its own; TASK wherever there is doubt."""
    fields = {key for key, value in data.items() if value is not None}
    if fields & _TASK_FIELDS:
        return Kind.TASK
    if "targets" in fields or "set" in fields:
        return Kind.STACK
    if "type" in fields or "size" in fields or "use_existing" in fields:
        return Kind.VOLUME
    return Kind.TASK


def is_ours(document: Document) -> bool:
    """Whether anything in a document says that it is meant for triplane.

    That is one field of ours, or one that looks misspelt. A name alone says nothing beside
    fields of somebody else's, as in a Conda environment.
    """
    fields = {key for key, value in document.data.items() if value is not None}
    if fields & _OURS or fields <= {"name"}:
        return True
    if str(document.data.get("type", "")).startswith(_VOLUME_TYPES):
        return True
    return any(suggest(str(key), _LONG_NAMES) for key in fields - {"name"})


def detect(documents: Sequence[Document], diagnostics: Diagnostics) -> Unit:
    """What the documents of one file are together; they come back with their kinds set.

    A first document with nothing but `name` (and `execution: serial`) is the header of a
    pipeline, one with `execution: parallel` the header of a group; a name alone, with no
    document after it, is an empty task. Reports documents that do not go together.
    """
    if not documents:
        return Unit(Kind.TASK, None, ())
    documents = [document.of_kind(classify(document.data)) for document in documents]
    first = documents[0]
    if first.kind is not Kind.TASK:
        return _single(documents, diagnostics)
    _refuse_other_kinds(documents, diagnostics)
    tasks = [document for document in documents if document.kind is Kind.TASK]
    header_kind = _header_kind(first, alone=len(tasks) == 1)
    if header_kind is None:
        if first.data.get("execution", "") is None and set(first.data) <= _HEADER_FIELDS:
            tasks = [first.without(("execution",)), *tasks[1:]]
        kind = Kind.PIPELINE if len(tasks) > 1 else Kind.TASK
        return Unit(kind, None, tuple(tasks))
    if header_kind is Kind.PIPELINE and len(tasks) == 1:
        # `execution: serial` alone: an empty task, as a name alone is.
        return Unit(Kind.TASK, None, (first.without(("execution",)),))
    header = first.of_kind(header_kind)
    alone = len(tasks) == 1 and not _has_errors(first, diagnostics)
    if header_kind is Kind.GROUP and alone:
        diagnostics.add(
            codes.GROUP_WITHOUT_TASKS.at(
                header.key_span(("execution",)),
                "no task follows this group header",
                hint="add the tasks, each in a document of its own after `---`",
            )
        )
    return Unit(header_kind, header, tuple(tasks[1:]))


def _header_kind(first: Document, *, alone: bool) -> Kind | None:
    """PIPELINE or GROUP where the first document is a header, None where it is a task."""
    fields = set(first.data)
    execution = first.data.get("execution")
    if execution == "parallel":
        return Kind.GROUP
    if fields <= _HEADER_FIELDS:
        if isinstance(execution, str) and suggest(execution, _EXECUTIONS) == "parallel":
            return Kind.GROUP  # misspelt; the schema of headers says so
        if execution == "serial" or ("name" in fields and not alone):
            return Kind.PIPELINE
        return None
    return Kind.GROUP if execution is not None and fields <= _GROUP_FIELDS else None


def _has_errors(document: Document, diagnostics: Diagnostics) -> bool:
    """Whether something is wrong with the document's file, so that parts may be missing."""
    return any(
        found.severity is Severity.ERROR and found.span and found.span.source is document.source
        for found in diagnostics
    )


def _single(documents: list[Document], diagnostics: Diagnostics) -> Unit:
    """A volume or a stack."""
    first = documents[0]
    _refuse_other_kinds(documents, diagnostics)
    for further in documents[1:]:
        if further.kind is first.kind:
            diagnostics.add(
                codes.SEVERAL_DOCUMENTS.at(
                    further.key_span(()),
                    f"a {first.kind} file holds one document",
                    hint=f"put this {first.kind} into a file of its own",
                    related=[Related(f"the first {first.kind} is here", first.key_span(()))],
                )
            )
    return Unit(first.kind, None, (first,))


def _refuse_other_kinds(documents: list[Document], diagnostics: Diagnostics) -> None:
    first = documents[0]
    for document in documents[1:]:
        if document.kind is not first.kind:
            diagnostics.add(
                codes.MIXED_KINDS.at(
                    document.key_span(()),
                    f"this document is a {document.kind}, the first one of the file a {first.kind}",
                    hint="put it into a file of its own",
                    related=[Related("the first document starts here", first.key_span(()))],
                )
            )
