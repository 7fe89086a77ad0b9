"""`envs`, `secrets` and `managed_secrets`: names, literal values, and where values are missing."""

from __future__ import annotations

import datetime
import re
from collections.abc import Container, Iterator, Mapping

from compiler.diagnostics import Related
from compiler.diagnostics.codes import model as codes
from compiler.model.builder import Builder
from compiler.model.overrides import COMMAND_LINE
from compiler.model.task import Secret
from compiler.source.paths import Path

DOCKER_LOGIN = (
    "SKYPILOT_DOCKER_USERNAME",
    "SKYPILOT_DOCKER_PASSWORD",
    "SKYPILOT_DOCKER_SERVER",
)

# MAX_ARG_STRLEN of Linux: one `NAME=value` with the byte that ends it.
MAX_ENTRY_BYTES = 128 * 1024

_env_name = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_secret_name = re.compile(r"(secrets:)?(?:(personal|workspace|global)\.)?([a-zA-Z_][a-zA-Z0-9_]*)")
_NAME_RULE = "letters, digits and `_`, no digit first"


def scalar_text(value: object) -> str | None:
    """The text that SkyPilot makes of a scalar (`True`, `1e-06`); None for maps and lists."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | datetime.date):
        return str(value)
    return None


def build_envs(b: Builder, value: object, secrets: Container[str] = ()) -> dict[str, str]:
    """The variables with their values as text; null is a value still to be given.

    A secret of the same name (`--secret NAME` for a null variable) is such a value.
    """
    envs: dict[str, str] = {}
    for key, raw in b.mapping(("envs",), value).items():
        path: Path = ("envs", key)
        if type(key) is not str or not _env_name.fullmatch(key):
            b.report(
                codes.ENV_NAME,
                path,
                f"`{key}` cannot be the name of an environment variable",
                at_key=True,
                expected=_NAME_RULE,
            )
        elif raw is None:
            if key in secrets:
                continue
            b.report(
                codes.ENV_REQUIRED,
                path,
                f"the variable `{key}` has no value",
                at_key=True,
                hint=f'give it with `--env {key}=VALUE`, or write `{key}: ""` for an empty one',
            )
        elif (text := scalar_text(raw)) is None:
            kind = "a map" if isinstance(raw, dict) else "a list"
            b.report(
                codes.ENV_VALUE,
                path,
                f"the value of `{key}` is {kind}",
                found=kind,
                expected="text, a number or a boolean",
                hint="put it in quotes to pass it on as text",
            )
        else:
            _check_value(b, path, key, text)
            envs[key] = text
    return envs


def _check_value(b: Builder, path: Path, key: str, text: str) -> None:
    length = len(f"{key}={text}".encode(errors="replace")) + 1
    if length > MAX_ENTRY_BYTES:
        b.report(
            codes.ENV_TOO_LONG,
            path,
            f"the value of `{key}` is too long for a variable",
            at_key=True,
            found=f"{length} bytes with its name",
            expected=f"at most {MAX_ENTRY_BYTES}",
        )
    if key == "SKYPILOT_DOCKER_PASSWORD" and text:
        b.report(
            codes.ENV_HOLDS_SECRET,
            path,
            f"`{key}` is a variable, so its value is rendered and shown",
            at_key=True,
            hint="move the SKYPILOT_DOCKER_* variables to `secrets`",
        )


def build_secrets(b: Builder, value: object, managed: object) -> dict[str, Secret]:
    """All secrets by name. No value ever enters a diagnostic."""
    found: dict[str, Secret] = {}
    for path, key, raw in _entries(b, ("secrets",), value):
        match = _name(b, path, key)
        if match is None:
            continue
        if match[1] is None and isinstance(value, list):
            b.report(
                codes.SECRET_NAME,
                path,
                f"`{key}` in the list of secrets lacks the prefix `secrets:`",
                hint=f"write `secrets:{key}`; secrets with a value are a map",
            )
            continue
        if match[1] is not None and raw is not None:
            b.report(
                codes.SECRET_REFERENCE,
                path,
                f"`{key}` refers to a secret that is kept elsewhere, and has a value here",
                at_key=True,
                hint="drop the prefix, or the value",
            )
            continue
        text = None if raw is None else scalar_text(raw)
        if raw is not None and text is None:
            b.report(
                codes.ENV_VALUE,
                path,
                f"the value of the secret `{match[3]}` is no text",
                at_key=True,
                expected="text, a number or a boolean",
            )
            continue
        if text and b.span(path).source.path != COMMAND_LINE:
            b.report(
                codes.SECRET_INLINE,
                path,
                f"the value of the secret `{match[3]}` is written in the file",
                at_key=True,
                hint=f"write `{match[3]}: null` and hand it over with --secret {match[3]}",
            )
        known = found.get(match[3])
        if known is None or known.value is None:
            found[match[3]] = Secret(match[3], text, managed=match[1] is not None)
    if isinstance(managed, dict):
        b.unexpected(("managed_secrets",), managed, "a list of names or of one-entry maps")
        managed = None
    for path, key, raw in _entries(b, ("managed_secrets",), managed):
        match = _name(b, path, key)
        if match is None:
            continue
        options = b.mapping(path, raw)
        mount_path = b.text((*path, "mount_path"), options.get("mount_path"))
        known = found.get(match[3])
        text = known.value if known else None
        found[match[3]] = Secret(match[3], text, mount_path, managed=True)
    return found


def _entries(b: Builder, path: Path, value: object) -> Iterator[tuple[Path, str, object]]:
    """Names with their values: of a map, of a list of names, of a list of one-entry maps."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            if isinstance(item, dict):
                yield from (((*path, at, key), key, entry) for key, entry in item.items())
            else:
                yield (*path, at), item, None
        return
    yield from (((*path, key), key, item) for key, item in b.mapping(path, value).items())


def _name(b: Builder, path: Path, key: object) -> re.Match[str] | None:
    match = _secret_name.fullmatch(key) if isinstance(key, str) else None
    if match is None:
        b.report(
            codes.SECRET_NAME,
            path,
            f"`{key}` cannot be the name of a secret",
            at_key=True,
            expected=f"`NAME` or `secrets:NAME`, a name of {_NAME_RULE}",
        )
    return match


def check_docker_login(
    b: Builder, envs: Mapping[str, str], secrets: Mapping[str, Secret], has_image: bool
) -> None:
    """The three variables of a registry login stand together, and in one place."""
    places = {
        place: [name for name in DOCKER_LOGIN if name in names]
        for place, names in (("envs", envs), ("secrets", secrets))
    }
    used = [place for place, names in places.items() if names]
    if not used:
        return
    first: Path = (used[0], places[used[0]][0])
    if len(used) > 1:
        other: Path = (used[1], places[used[1]][0])
        b.report(
            codes.DOCKER_LOGIN_SPLIT,
            first,
            "the registry login is split between `envs` and `secrets`",
            at_key=True,
            hint="put all three variables into `secrets`",
            related=[Related("the other part", b.key_span(other))],
        )
        return
    missing = [name for name in DOCKER_LOGIN if name not in places[used[0]]]
    values = [secrets[name].value is None for name in places[used[0]] if name in secrets]
    if any(values) and not all(values):
        b.report(
            codes.DOCKER_LOGIN_SPLIT,
            first,
            "a part of the registry login has a value here, the rest has none",
            at_key=True,
            hint="hand over all three values, or none of them",
        )
    elif missing:
        b.report(
            codes.DOCKER_LOGIN_INCOMPLETE,
            first,
            f"the registry login in `{used[0]}` lacks " + " and ".join(missing),
            at_key=True,
            expected=", ".join(DOCKER_LOGIN),
        )
    elif not has_image:
        b.report(
            codes.DOCKER_LOGIN_UNUSED,
            first,
            "a registry login without an image",
            at_key=True,
            hint='name the image: `image_id: "docker:..."`',
        )
