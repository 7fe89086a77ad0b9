"""What happens to nodes over time: `autostop` and `job_recovery`."""

from __future__ import annotations

from compiler.diagnostics.codes import model_resources as codes
from compiler.model.builder import Builder, is_number, shown
from compiler.model.resources import Autostop, JobRecovery
from compiler.model.task import Hook
from compiler.model.units import parse_minutes
from compiler.source.paths import Path
from compiler.source.suggestions import suggest
from compiler.source.wording import described

STRATEGIES = ("EAGER_NEXT_REGION", "FAILOVER", "NONE")
WAIT_FOR = ("jobs_and_ssh", "jobs", "none")
DEFAULT_HOOK_TIMEOUT = 3600
"""Seconds."""

_RECOVERY_KEYS = ("strategy", "max_restarts_on_errors", "recover_on_exit_codes")
_AUTOSTOP_KEYS = ("idle_minutes", "down", "wait_for", "hook", "hook_timeout")
_HIGHEST_EXIT_CODE = 255


def build_autostop(b: Builder, path: Path, value: object) -> Autostop | None:
    """Read `autostop`; None where there is none (`false`). 0 minutes count as 1."""
    if value is None or value is False:
        return None
    if value is True:
        return Autostop(1)
    if isinstance(value, dict):
        b.only_keys(codes.AUTOSTOP_VALUE, path, value, _AUTOSTOP_KEYS)
        minutes = b.integer((*path, "idle_minutes"), value.get("idle_minutes"), least=0) or 0
        down = b.flag((*path, "down"), value.get("down"), default=False)
        wait_for = b.text((*path, "wait_for"), value.get("wait_for")) or WAIT_FOR[0]
        if wait_for.lower() not in WAIT_FOR:
            b.unexpected((*path, "wait_for"), wait_for, "one of " + ", ".join(WAIT_FOR))
        return Autostop(max(minutes, 1), down, wait_for.lower())
    if isinstance(value, str):
        minutes = b.parsed(codes.AUTOSTOP_VALUE, path, parse_minutes, value) or 0
    elif is_number(value) and value == int(value) and value >= 0:  # type: ignore
        minutes = int(value)  # type: ignore[call-overload]
    else:
        b.report(
            codes.AUTOSTOP_VALUE,
            path,
            f"`autostop` cannot be {shown(value)}",
            expected='true, false, minutes, a text such as "30m" or "2h", or a map',
        )
        return None
    return Autostop(max(minutes, 1))


def autostop_hook(b: Builder, path: Path, value: object) -> Hook | None:
    """The hook that the deprecated keys `hook` and `hook_timeout` of `autostop` stand for."""
    if not isinstance(value, dict) or value.get("hook") is None:
        return None
    text = b.text((*path, "hook"), value["hook"])
    timeout = b.integer((*path, "hook_timeout"), value.get("hook_timeout"), least=1)
    event = "down" if value.get("down") is True else "stop"
    b.report(
        codes.AUTOSTOP_HOOK,
        (*path, "hook"),
        "`autostop.hook` is deprecated",
        at_key=True,
        hint=f"move it to `config.hooks`: `[{{run: ..., events: [{event}]}}]`",
    )
    return Hook(text, (event,), timeout or DEFAULT_HOOK_TIMEOUT) if text else None


def build_job_recovery(b: Builder, path: Path, value: object) -> JobRecovery | None:
    """Read `job_recovery`: a strategy, or a map with one and with limits."""
    if value is None:
        return None
    if isinstance(value, str):
        return JobRecovery(_strategy(b, path, value))
    if not isinstance(value, dict):
        b.unexpected(path, value, "a strategy or a map")
        return None
    b.only_keys(codes.JOB_RECOVERY_KEY, path, value, _RECOVERY_KEYS)
    strategy = b.text((*path, "strategy"), value.get("strategy"))
    restarts = (*path, "max_restarts_on_errors")
    return JobRecovery(
        None if strategy is None else _strategy(b, (*path, "strategy"), strategy),
        b.integer(restarts, value.get("max_restarts_on_errors"), least=0) or 0,
        _exit_codes(b, (*path, "recover_on_exit_codes"), value.get("recover_on_exit_codes")),
    )


def _strategy(b: Builder, path: Path, text: str) -> str | None:
    name = text.upper()
    if name in STRATEGIES:
        return name
    near = suggest(text, STRATEGIES)
    b.report(
        codes.JOB_RECOVERY_STRATEGY,
        path,
        f"there is no recovery strategy {shown(text)}",
        found=described(text),
        expected="EAGER_NEXT_REGION, FAILOVER or none",
        hint=f"did you mean `{near}`?" if near else None,
    )
    return None


def _exit_codes(b: Builder, path: Path, value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    found: dict[int, None] = {}
    for at, item in enumerate(items):
        where = (*path, at) if isinstance(value, list) else path
        if is_number(item) and item == int(item) and 0 <= item <= _HIGHEST_EXIT_CODE:
            found[int(item)] = None
        else:
            b.unexpected(where, item, f"an exit code from 0 to {_HIGHEST_EXIT_CODE}")
    return tuple(found)
