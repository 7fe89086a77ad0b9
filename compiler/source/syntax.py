"""What stops the YAML parser, as diagnostics in words that help."""

from __future__ import annotations

import re

from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import Node, ScalarNode
from yaml.reader import Reader

from compiler.diagnostics import Diagnostic, Related, SourceText, Span
from compiler.diagnostics.codes import source as codes
from compiler.source.limits import (
    MAX_DEPTH,
    MAX_DOCUMENT_VALUES,
    MAX_DOCUMENTS,
    MAX_FILE_NODES,
)
from compiler.source.nodes import LimitExceeded, Mark

_refused = Reader.NON_PRINTABLE
_surrogate = re.compile(r"[\ud800-\udfff]")

# Parts of the parser's own wording, the message for people, and what to do.
_problems: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "a `:` is not expected here",
        "check the indentation; quote a text that contains `: `",
    ),
    (
        "block sequence entries are not allowed",
        "a list item is not expected here",
        "start the list on a line of its own, or write `[a, b]`",
    ),
    (
        "expected ',' or ']'",
        "the list that starts with `[` is not closed",
        "close it with `]`, separate its items with `,`",
    ),
    (
        "expected ',' or '}'",
        "the map that starts with `{` is not closed",
        "close it with `}`, separate its fields with `,`",
    ),
    (
        "found unexpected end of stream",
        "the quoted text is not closed",
        "add the closing quote",
    ),
    (
        "found unexpected document",
        "the quoted text is not closed before the next document",
        "add the closing quote",
    ),
    (
        "cannot start any token",
        "a plain text cannot start with this character",
        "quote the text",
    ),
    (
        "unknown escape character",
        "this escape is not known in double quotes",
        "write the backslash twice, or use single quotes or a `|` block",
    ),
    (
        "Unicode character escape",
        "this escape is no Unicode character",
        "write the character itself",
    ),
    (
        "expected '-' indicator",
        "a list cannot be followed by fields at the same indentation",
        "indent the items below their field, or start each line with `- `",
    ),
    (
        "expected key",
        "a field (`name: value`) is expected here",
        "check the indentation here and before; quote values that hold quotes or ` #`",
    ),
    (
        "could not find expected ':'",
        "the line before is no field: it has no `: `",
        "write `name: value`, with a blank after the colon, or indent the text of a block",
    ),
    (
        "expected node content",
        "a value is expected here",
        "remove the extra `,`, `]` or `}`, or quote the text",
    ),
    (
        "expected comment or line break",
        "only a comment may follow `|` or `>` on its line",
        "write the text on the next line, indented",
    ),
    (
        "second occurrence",
        "this anchor is defined twice",
        "rename one of the anchors",
    ),
    (
        "undefined tag handle",
        "unknown tag",
        "remove the tag, or quote a text that starts with `!`",
    ),
    (
        "expected <document start>",
        "a new document must start with `---`",
        "add a line `---`, or check the indentation",
    ),
)

_limits = {
    "depth": (
        codes.TOO_DEEP,
        f"more than {MAX_DEPTH} levels of maps and lists",
        "flatten the structure",
    ),
    "nodes": (
        codes.TOO_MANY_VALUES,
        f"the file holds more than {MAX_FILE_NODES:,} keys and values",
        "split the file",
    ),
    "values": (
        codes.TOO_MANY_VALUES,
        f"with its aliases expanded the document holds more than {MAX_DOCUMENT_VALUES:,} values",
        "use fewer aliases of values that hold aliases themselves",
    ),
    "documents": (
        codes.TOO_MANY_VALUES,
        f"the file holds more than {MAX_DOCUMENTS:,} documents",
        "split the file",
    ),
}


def fault(source: SourceText, error: YAMLError) -> Diagnostic:
    """The diagnostic for what ended the reading of a document (or of the text)."""
    if isinstance(error, LimitExceeded):
        code, message, hint = _limits[error.limit]
        span = _at(source, error.mark) if error.mark else Span.of_whole_line(source, 1)
        return code.at(span, message, hint=hint)
    if isinstance(error, MarkedYAMLError):
        return _marked(source, error)
    return _control_character(source)


def recursion(source: SourceText, root: Node) -> Diagnostic | None:
    """The diagnostic for an alias inside the value it refers to, if the tree has one."""
    node = _recursive(root)
    if node is None:
        return None
    return codes.RECURSIVE_ALIAS.at(
        _at(source, node.start_mark),
        "an alias inside this value refers to the value itself",
        hint="refer to another value",
    )


def _recursive(root: Node) -> Node | None:
    """The first collection found that contains itself; no recursion of its own."""
    done: set[int] = set()
    open_nodes: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, leaving = stack.pop()
        if leaving:
            open_nodes.discard(id(node))
            done.add(id(node))
            continue
        if id(node) in open_nodes:
            return node
        if id(node) in done or isinstance(node, ScalarNode):
            continue
        open_nodes.add(id(node))
        stack.append((node, True))
        for child in node.value:
            stack.extend(
                (part, False) for part in (child if isinstance(child, tuple) else (child,))
            )
    return None


def _marked(source: SourceText, error: MarkedYAMLError) -> Diagnostic:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or error.context or "the text is not valid YAML"
    span = _at(source, mark) if mark else Span.of_whole_line(source, 1)
    before = source.line(span.line)[: span.column]
    if "\t" in before and not before.strip():
        column = before.index("\t") + 1
        return codes.TAB_INDENTATION.at(
            Span(source, span.line, column, span.line, max(len(before), column) + 1),
            "a tab cannot be used to indent",
            hint="replace the tab by blanks",
        )
    if "undefined alias" in problem:
        return codes.UNKNOWN_ALIAS.at(
            _word(source, span),
            "this alias refers to nothing: no anchor of that name comes before it",
            hint="define the anchor (`&name`) earlier, or quote a text that starts with `*`",
        )
    message, hint = next(
        ((message, hint) for part, message, hint in _problems if part in problem), (problem, None)
    )
    ended = not source.line(span.line)[span.column - 1 :].strip() or (mark and mark.column == 0)
    if ended and "expected node content" in problem and "flow" in (error.context or ""):
        message, hint = "a `[` or `{` before this is not closed", "close it with `]` or `}`"
    related = []
    if error.context_mark and mark and error.context_mark.line != mark.line:
        related.append(Related("started here", _at(source, error.context_mark)))
    return codes.YAML_SYNTAX.at(span, message, hint=hint, related=related)


def _at(source: SourceText, mark: Mark) -> Span:
    """The one character at a mark; the end of the last line where the mark is behind it."""
    number, column = mark.line + 1, mark.column + 1
    if number > len(source.lines):
        number = max(len(source.lines), 1)
        column = len(source.line(number).rstrip()) + 1
    return Span(source, number, column, number, column + 1)


def _word(source: SourceText, span: Span) -> Span:
    rest = re.match(r"[^\s,\]}]+", source.line(span.line)[span.column - 1 :])
    length = rest.end() if rest else 1
    return Span(source, span.line, span.column, span.line, span.column + length)


def _control_character(source: SourceText) -> Diagnostic:
    text = source.text
    match = _refused.search(text) or _surrogate.search(text)
    if match is None:
        return codes.YAML_SYNTAX.at(Span.of_whole_line(source, 1), "the text cannot be read")
    before = text[: match.start()]
    number = len((before + ".").splitlines())
    column = len((before + ".").splitlines()[-1])
    return codes.CONTROL_CHARACTER.at(
        Span(source, number, column, number, column + 1),
        f"the character U+{ord(match.group()):04X} is not allowed in YAML",
        hint="remove it; in a double-quoted text write an escape such as `\\e`",
    )
