"""`$NAME` and `${NAME}` in `workdir`, `file_mounts`, `volumes` and `service`.

The tree is walked, not its text: a value that holds quotes or backslashes stays whole, keys
are substituted too, and the result of a substitution is always text. A secret is never put
in: the headers and the body of a readiness probe keep its name, for the target to resolve
when the probe is made; anywhere else it is an error, because the text is rendered into files.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

from compiler.diagnostics.codes import model as codes
from compiler.model.builder import Builder, shown
from compiler.source.paths import Path
from compiler.source.wording import described

FIELDS = ("workdir", "file_mounts", "volumes", "service")
"""The keys of a task whose values are substituted."""

_variable = re.compile(r"\$(?:\{([a-zA-Z_][a-zA-Z0-9_]*)(\}?)|([a-zA-Z_][a-zA-Z0-9_]*))")
_BY_ENTRY = frozenset({"file_mounts", "volumes"})
FREE_TEXT: tuple[Path, ...] = (
    ("service", "readiness_probe", "headers"),
    ("service", "readiness_probe", "post_data"),
)
"""Where any text may stand, and the name of a secret too."""


class Substitution:
    """One pass over the subtree of a field.

    `met` are the paths of the texts and keys that held a variable, known or not; `unresolved`
    those of the entries that need a variable of `missing`, whose value is still to be given.
    """

    def __init__(
        self,
        b: Builder,
        envs: Mapping[str, str],
        secrets: Container[str],
        missing: Container[str] = (),
    ) -> None:
        self._b = b
        self._envs = envs
        self._secrets = secrets
        self._missing = missing
        self.met: list[Path] = []
        self.unresolved: set[Path] = set()

    def apply(self, node: object, path: Path) -> object:
        """`node` with its variables replaced; the same object where there are none."""
        kind = type(node)
        if kind is str:
            return self._text(node, path) if "$" in node else node  # type: ignore
        if kind is dict:
            return self._map(node, path)  # type: ignore[arg-type]
        if kind is list:
            items = [self.apply(item, (*path, at)) for at, item in enumerate(node)]  # type: ignore
            unchanged = all(new is old for new, old in zip(items, node, strict=True))  # type: ignore
            return node if unchanged else items
        return node

    def _map(self, node: dict[str, object], path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        changed = False
        for key, value in node.items():
            if type(value) is str and "$" not in value and "$" not in key and key not in result:
                result[key] = value
                continue
            name = key
            if type(key) is str and "$" in key:
                name = self._text(key, (*path, key), at_key=True)
                self.met.append((*path, name))
                if (*path, key) in self.unresolved:
                    self.unresolved.add((*path, name))
                if name in result or (name != key and name in node):
                    self._b.report(
                        codes.SUBSTITUTION_DUPLICATE,
                        (*path, key),
                        f"{shown(name)} is there twice after substitution",
                        at_key=True,
                        found=described(key),
                    )
                elif name != key:
                    self._b.renamed[(*path, name)] = key
            new = self.apply(value, (*path, name))
            changed = changed or new is not value or name != key
            result[name] = new
        return result if changed else node

    def _text(self, text: str, path: Path, *, at_key: bool = False) -> str:
        def replace(match: re.Match[str]) -> str:
            name = match[1] or match[3]
            if match[1] and not match[2]:
                self._b.report(
                    codes.SUBSTITUTION_DEFAULT,
                    path,
                    f"`${{{name}` is followed by more than a brace",
                    at_key=at_key,
                    found=described(text),
                    expected=f"${name} or ${{{name}}}",
                    hint="there is no default syntax here; give the default in `envs`",
                )
                return match[0]
            if name in self._secrets:
                if not any(path[: len(kept)] == kept for kept in FREE_TEXT):
                    self._b.report(
                        codes.SECRET_SUBSTITUTED,
                        path,
                        f"the secret `{name}` cannot stand here",
                        at_key=at_key,
                        hint="what is rendered never holds a secret; use a variable of `envs`",
                    )
                return match[0]
            if name in self._missing:
                self.unresolved.add(path[:2] if path[0] in _BY_ENTRY else path[:1])
            return self._envs.get(name, match[0])

        result, found = _variable.subn(replace, text)
        if found:
            self.met.append(path)
        return result
