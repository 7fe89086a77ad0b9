"""One walk over a script's syntax tree, which is tree-sitter's."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from compiler.migration.shell.body import Assignment, Body, Command, Context, HereDoc, Use
from compiler.migration.shell.words import Word, text_of, word_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LARGEST = 1 << 20
"""Bytes of a script that are parsed; what is longer is data with a head of shell."""

PREFIXES = frozenset(
    {"time", "exec", "command", "builtin", "env", "nohup", "nice", "eval", "sudo", "setsid"}
)
"""Commands that run another one; what they run is looked at as if it stood alone."""

_VARIABLE = re.compile(r"\$(?:\{[#!]?)?([A-Za-z_][A-Za-z0-9_]*|[0-9@*#])")
_ESCAPED = re.compile(r"\\\$(?:\{[#!]?)?([A-Za-z_][A-Za-z0-9_]*|[0-9@*#])")


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(text: str) -> Body:
    """The body of a script. Text that is no bash shows in `faults`; nothing is raised."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) > LARGEST:
        return Body(faults=(1,))
    tree = _parser().parse(data)
    walk = _Walk(data, _LEAVES | _MAYBE_ESCAPED if b"\\$" in data else _LEAVES)
    walk.visit(tree.root_node, frozenset())
    return Body(
        commands=tuple(sorted(walk.commands, key=lambda item: item.start)),
        assignments=tuple(sorted(walk.assignments, key=lambda item: item.line)),
        uses=tuple(sorted(walk.uses, key=lambda item: item.start)),
        heredocs=tuple(walk.heredocs),
        functions=tuple(walk.functions),
        comments=tuple(walk.comments),
        faults=tuple(sorted(set(walk.faults))),
        root=tree.root_node,
    )


class _Walk:
    """Collects; one method for each kind of node that means something here."""

    def __init__(self, data: bytes, leaves: frozenset[str]) -> None:
        self.data = data
        self.leaves = leaves
        self.commands: list[Command] = []
        self.assignments: list[Assignment] = []
        self.uses: list[Use] = []
        self.heredocs: list[HereDoc] = []
        self.functions: list[str] = []
        self.comments: list[tuple[int, int, int]] = []
        self.faults: list[int] = []

    def visit(self, root: Node, contexts: frozenset[Context]) -> None:
        pending = [(root, contexts)]
        while pending:
            node, around = pending.pop()
            kind = node.type
            if kind == "ERROR":
                self.faults.append(node.start_point[0] + 1)
            handler = _HANDLERS.get(kind)
            if handler is not None:
                handler(self, node, around)
            if kind in _WITHOUT_INNER:
                continue
            inside = _INSIDE.get(kind)
            inner = around | {inside} if inside else around
            children = node.children
            last = None
            for child in children:
                if child.child_count:
                    last = (child, inner)
                    pending.append(last)
                    continue
                kind = child.type
                if kind in self.leaves:
                    _HANDLERS[kind](self, child, inner)
                elif kind == "$":
                    self._dollar(child)
                elif kind == "&" and last is not None:
                    pending.remove(last)
                    pending.append((last[0], inner | {Context.BACKGROUND}))
                elif child.is_missing:
                    self.faults.append(child.start_point[0] + 1)

    def _command(self, node: Node, contexts: frozenset[Context]) -> None:
        words: list[Word] = []
        assigned: list[str] = []
        last: Node | None = None
        for child in node.children:
            if child.type == "variable_assignment":
                assigned.append(text_of(child.children[0]))
            elif child.is_named and child.type not in _REDIRECTS:
                if last is not None and _is_cut(last, child):
                    self._mended(last, child, words, assigned, contexts)
                else:
                    words.append(word_of(child))
            last = child
        if assigned and words and words[0].literal in _KEYWORDS:
            # The grammar takes a keyword on the next line for the command of these assignments.
            self.faults.append(node.start_point[0] + 1)
        if not words and not assigned:
            return
        words, prefixes, more = _behind_prefixes(words)
        self.commands.append(
            Command(
                tuple(words),
                tuple(prefixes),
                contexts,
                node.start_point[0] + 1,
                node.start_byte,
                node.end_byte,
                (*assigned, *more),
            )
        )

    def _mended(
        self,
        last: Node,
        child: Node,
        words: list[Word],
        assigned: list[str],
        contexts: frozenset[Context],
    ) -> None:
        """Put a word together that the grammar has cut in two."""
        if words:
            word = words.pop()
            words.append(Word(word.text + text_of(child), None, word.start, child.end_byte))
            return
        if last.type != "variable_assignment":
            return  # the rest of a redirection's file, or of what has been put together
        value = last.child_by_field_name("value")
        start = value.start_byte if value is not None else last.end_byte
        text = self.data[start : child.end_byte].decode("utf-8", "surrogateescape")
        word = Word(text, None, start, child.end_byte)
        line = last.start_point[0] + 1
        self.assignments.append(Assignment(assigned.pop(), word, False, line, contexts))

    def _dollar(self, node: Node) -> None:
        """A `$` that the grammar has cut off its name."""
        match = _VARIABLE.match(self.data[node.start_byte : node.start_byte + 80].decode("latin-1"))
        if match is not None:
            self.uses.append(Use(match[1], node.start_point[0] + 1, node.start_byte))

    def _assignment(self, node: Node, contexts: frozenset[Context]) -> None:
        parent = node.parent
        if parent is None or parent.type == "command":
            return
        exported = False
        if parent.type == "declaration_command":
            words = [text_of(child) for child in parent.children[:2]]
            exported = words[0] == "export" or (words[0] == "declare" and "x" in words[-1][:4])
        value = node.child_by_field_name("value")
        name = node.child_by_field_name("name")
        self.assignments.append(
            Assignment(
                text_of(name) if name is not None else "",
                word_of(value) if value is not None else None,
                exported,
                node.start_point[0] + 1,
                contexts,
            )
        )

    def _declaration(self, node: Node, contexts: frozenset[Context]) -> None:
        if text_of(node.children[0]) != "export":
            return
        for before, child in pairwise(node.children):
            if child.type in ("variable_name", "word") and not _is_cut(before, child):
                line = node.start_point[0] + 1
                self.assignments.append(Assignment(text_of(child), None, True, line, contexts))

    def _expansion(self, node: Node, contexts: frozenset[Context]) -> None:
        for child in node.children:
            name: Node | None = child
            if child.type == "subscript":
                name = child.child_by_field_name("name")
            elif child.type not in ("variable_name", "special_variable_name"):
                continue
            if name is not None:
                line = node.start_point[0] + 1
                inside = Context.FUNCTION in contexts
                self.uses.append(Use(text_of(name), line, node.start_byte, in_function=inside))
            return

    def _arithmetic(self, node: Node, contexts: frozenset[Context]) -> None:
        """Names without `$` in arithmetic."""
        for child in node.children:
            if child.type == "variable_name":
                self.uses.append(Use(text_of(child), child.start_point[0] + 1, child.start_byte))

    def _raw(self, node: Node, contexts: frozenset[Context]) -> None:
        self._quoted(text_of(node), node)

    def _escaped(self, node: Node, contexts: frozenset[Context]) -> None:
        """Names behind `\\$`, which whoever gets the text expands."""
        text = text_of(node)
        if "\\$" in text:
            self._quoted(text, node, _ESCAPED)

    def _quoted(self, text: str, node: Node, names: re.Pattern[str] = _VARIABLE) -> None:
        if "$" not in text:
            return
        for match in names.finditer(text):
            before = text[: match.start()]
            line = node.start_point[0] + 1 + before.count("\n")
            start = node.start_byte + len(before.encode("utf-8", "surrogateescape"))
            self.uses.append(Use(match[1], line, start, quoted=True))

    def _heredoc(self, node: Node, contexts: frozenset[Context]) -> None:
        start = next((c for c in node.children if c.type == "heredoc_start"), None)
        body = next((c for c in node.children if c.type == "heredoc_body"), None)
        if start is None or body is None:
            return
        expands = not any(mark in text_of(start) for mark in "'\"\\")
        last = body.end_point[0] + (1 if body.end_point[1] else 0)
        self.heredocs.append(
            HereDoc(body.start_point[0] + 1, last, body.start_byte, body.end_byte, expands)
        )
        self._quoted(text_of(body), body, _ESCAPED if expands else _VARIABLE)

    def _function(self, node: Node, contexts: frozenset[Context]) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.functions.append(text_of(name))

    def _comment(self, node: Node, contexts: frozenset[Context]) -> None:
        self.comments.append((node.start_point[0] + 1, node.start_byte, node.end_byte))


_HANDLERS = {
    "command": _Walk._command,
    "variable_assignment": _Walk._assignment,
    "declaration_command": _Walk._declaration,
    "simple_expansion": _Walk._expansion,
    "expansion": _Walk._expansion,
    "binary_expression": _Walk._arithmetic,
    "arithmetic_expansion": _Walk._arithmetic,
    "raw_string": _Walk._raw,
    "string_content": _Walk._escaped,
    "word": _Walk._escaped,
    "heredoc_redirect": _Walk._heredoc,
    "function_definition": _Walk._function,
    "comment": _Walk._comment,
}
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_KEYWORDS = frozenset({"elif", "else", "fi", "then", "do", "done", "esac", "in"})
_LEAVES = frozenset({"comment", "raw_string"})
_MAYBE_ESCAPED = frozenset({"string_content", "word"})
_WITHOUT_INNER = frozenset({"comment", "raw_string", "simple_expansion", "file_descriptor"})
_INSIDE = {
    "pipeline": Context.PIPE,
    "command_substitution": Context.SUBSTITUTION,
    "process_substitution": Context.SUBSTITUTION,
    "subshell": Context.SUBSHELL,
    "for_statement": Context.LOOP,
    "c_style_for_statement": Context.LOOP,
    "while_statement": Context.LOOP,
    "if_statement": Context.CONDITION,
    "elif_clause": Context.CONDITION,
    "case_statement": Context.CONDITION,
    "list": Context.LIST,
    "function_definition": Context.FUNCTION,
    "redirected_statement": Context.REDIRECTED,
    "negated_command": Context.NEGATED,
}


def _is_cut(before: Node, node: Node) -> bool:
    """Whether the two are one word: the grammar ends `$A/$B/` behind its second `$`."""
    return before.end_byte == node.start_byte and text_of(before).endswith("$")


def _behind_prefixes(words: list[Word]) -> tuple[list[Word], list[Word], list[str]]:
    """(the words of the command that is really run, the prefixes, variables that env sets)."""
    at = 0
    assigned: list[str] = []
    while at < len(words) and words[at].literal in PREFIXES:
        prefix = words[at].literal
        following = at + 1
        while following < len(words):
            literal = words[following].literal or words[following].text
            if prefix == "env" and re.match(r"[A-Za-z_][A-Za-z0-9_]*=", literal):
                assigned.append(literal.partition("=")[0])
            elif prefix == "nice" and literal == "-n":
                following += 1
            elif not literal.startswith("-"):
                break
            following += 1
        if following >= len(words):
            break
        at = following
    return words[at:], words[:at], assigned
