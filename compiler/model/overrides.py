"""What the command line lays over a task, each value with a position in its flag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from compiler.diagnostics import Diagnostics, SourceText, Span, WrongUsage
from compiler.source import Document
from compiler.source.hiding import is_secret
from compiler.source.paths import Path
from compiler.source.reading import read_text

COMMAND_LINE = "<command line>"
"""The path of the texts that values from flags stand in."""

REMOVE = "none"
"""What `--gpus`, `--cpus`, `--memory`, `--infra`, `--image-id` and so on take for "not this"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Values that replace those of the task; None and empty change nothing.

    `env` and `secret` are pairs of name and value, None for "take it from the environment";
    `env_file` are the pairs of a file, which `env` beats. `config` are pairs of dotted key
    and YAML text (or a value that is no text); null takes the task's value away.
    """

    name: str | None = None
    num_nodes: int | None = None
    infra: str | None = None
    gpus: str | None = None
    cpus: str | None = None
    memory: str | None = None
    instance_type: str | None = None
    use_spot: bool | None = None
    image_id: str | None = None
    workdir: str | None = None
    git_url: str | None = None
    git_ref: str | None = None
    env_file: tuple[tuple[str, str | None], ...] = ()
    env: tuple[tuple[str, str | None], ...] = ()
    secret: tuple[tuple[str, str | None], ...] = ()
    config: tuple[tuple[str, object], ...] = ()

    def __bool__(self) -> bool:
        return self != _NOTHING

    def __repr__(self) -> str:
        """Without the values of secrets."""
        shown = []
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "secret":
                value = tuple((name, "***") for name, _ in value)
            if value not in (None, ()):
                shown.append(f"{item.name}={value!r}")
        return f"Overrides({', '.join(shown)})"


_NOTHING = Overrides()
_RESOURCES = {
    "infra": ("infra", "cloud", "region", "zone"),
    "gpus": ("accelerators", "gpus"),
    "cpus": ("cpus",),
    "memory": ("memory",),
    "instance_type": ("instance_type",),
    "use_spot": ("use_spot",),
    "image_id": ("image_id",),
}
"""The first key is set; all of them are taken out of the alternatives."""


def apply_overrides(
    document: Document, overrides: Overrides, environ: Mapping[str, str]
) -> Document:
    """`document` with `overrides` laid over it.

    Raises WrongUsage for flags that contradict each other and for `--env NAME` and
    `--secret NAME` where the environment has no NAME. What the document holds is not
    checked: where it has no place for a value, the value is left out.
    """
    if not overrides:
        return document
    for path, value, span in _changes(document, overrides, environ):
        try:
            if span is None:
                document = document.without(path)
            else:
                document = document.overlaid(path, value, span)
        except (KeyError, TypeError):
            # The document has something else than a map on the way, which its check reports.
            continue
    return document


_Change = tuple[Path, object, Span | None]


def _changes(
    document: Document, overrides: Overrides, environ: Mapping[str, str]
) -> Iterator[_Change]:
    """Paths with the value to lay over them; without a span the path is to be taken out."""
    if overrides.name is not None:
        yield ("name",), overrides.name, _flag("--name", overrides.name)
    if overrides.num_nodes is not None:
        yield ("num_nodes",), overrides.num_nodes, _flag("--num-nodes", str(overrides.num_nodes))
    yield from _workdir(document, overrides)
    for name, keys in _RESOURCES.items():
        value = getattr(overrides, name)
        if value is not None:
            yield from _resource(document, name, keys, value)
    yield from _pairs("envs", "--env-file", overrides.env_file, environ)
    yield from _pairs("envs", "--env", overrides.env, environ)
    yield from _secrets(document, overrides.secret, environ)
    for dotted, value in overrides.config:
        yield from _config(dotted, value)


def _flag(flag: str, value: str) -> Span:
    """The range of a value behind its flag."""
    text = f"{flag} {value}"
    source = SourceText(COMMAND_LINE, text)
    if "\n" in value:
        return Span.of_whole_line(source, 1)
    return Span(source, 1, len(flag) + 2, 1, len(text) + 1)


def _workdir(document: Document, overrides: Overrides) -> Iterator[_Change]:
    if overrides.workdir is not None:
        if overrides.git_url is not None or overrides.git_ref is not None:
            raise WrongUsage("--workdir does not go with --git-url and --git-ref")
        yield ("workdir",), overrides.workdir, _flag("--workdir", overrides.workdir)
    if overrides.git_url is not None:
        span = _flag("--git-url", overrides.git_url)
        yield ("workdir",), {"url": overrides.git_url}, span
    if overrides.git_ref is not None:
        if overrides.git_url is None and not isinstance(document.data.get("workdir"), dict):
            raise WrongUsage("--git-ref needs --git-url, or a task whose workdir is a repository")
        yield ("workdir", "ref"), overrides.git_ref, _flag("--git-ref", overrides.git_ref)


def _resource(
    document: Document, name: str, keys: tuple[str, ...], value: object
) -> Iterator[_Change]:
    """One key of `resources`, for every alternative."""
    flag = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        flag = flag if value else "--no-" + name.replace("_", "-")
    span = _flag(flag, "" if isinstance(value, bool) else str(value))
    resources = document.data.get("resources")
    resources = resources if isinstance(resources, dict) else {}
    for key in keys:
        if key in resources:
            yield ("resources", key), None, None
        for group in ("any_of", "ordered"):
            items = resources.get(group)
            for at, item in enumerate(items if isinstance(items, list) else ()):
                if isinstance(item, dict) and key in item:
                    yield ("resources", group, at, key), None, None
    if not (isinstance(value, str) and value.lower() == REMOVE):
        yield ("resources", keys[0]), value, span


def _pairs(
    field: str,
    flag: str,
    pairs: tuple[tuple[str, str | None], ...],
    environ: Mapping[str, str],
) -> Iterator[_Change]:
    for name, given in pairs:
        value = _value(flag, name, given, environ)
        shown = "***" if is_secret((field, name)) else value
        yield (field, name), value, _flag(flag, f"{name}={shown}")


def _secrets(
    document: Document, pairs: tuple[tuple[str, str | None], ...], environ: Mapping[str, str]
) -> Iterator[_Change]:
    written = document.data.get("secrets")
    if pairs and isinstance(written, list):
        # A value needs a map; the names keep the list's position.
        names = {item: None for item in written if isinstance(item, str)}
        yield ("secrets",), names, document.span(("secrets",))
    for name, given in pairs:
        value = _value("--secret", name, given, environ)
        yield ("secrets", name), value, _flag("--secret", f"{name}=***")


def _value(flag: str, name: str, given: str | None, environ: Mapping[str, str]) -> str:
    if given is not None:
        return given
    if name not in environ:
        raise WrongUsage(f"{flag} {name}: there is no {name} in the environment")
    return environ[name]


def _config(dotted: str, value: object) -> Iterator[_Change]:
    steps = tuple(dotted.split("."))
    if not all(steps):
        raise WrongUsage(f"--config {dotted}: the key has an empty part")
    read = _yaml(value) if isinstance(value, str) else value
    if read is None:
        yield ("config", *steps), None, None
    else:
        yield ("config", *steps), read, _flag("--config", f"{dotted}={value}")


def _yaml(text: str) -> object:
    """What YAML makes of the text behind `key=`; the text itself where it is no YAML."""
    found = Diagnostics()
    documents = read_text(f"value: {text}", COMMAND_LINE, found)
    if found.has_errors or len(documents) != 1 or set(documents[0].data) != {"value"}:
        return text
    return documents[0].data["value"]
