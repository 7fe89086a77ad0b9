"""Whose account the cluster sees: the requester's, where the configuration says so.

The service account logs in and becomes the requester through sudo, for everything: files,
submission, cancelling, logs. A name never reaches a shell unquoted or unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from compiler.diagnostics import WrongUsage
from compiler.model import Stack, TargetKind, TargetSpec
from compiler.model.config import scoped

_NAME = re.compile(r"[a-z_][a-z0-9_.-]*")
# Accounts of the system are refused by their number on the cluster as well.
_NEVER = frozenset({"root", "slurm", "munge", "nobody", "daemon", "bin", "sys", "admin", "sudo"})

# What runs before any snippet: the numbers of people's accounts begin at UID_MIN.
CHECK = """\
least=$(sed -n 's/^UID_MIN[[:space:]]*//p' /etc/login.defs 2>/dev/null)
[ "$(id -u)" -ge "${least:-1000}" ] || {
    printf '%s is an account of the system: nothing is run as it\\n' "$(id -un)" >&2
    exit 70
}
"""


def account_of(stack: Stack, target: TargetSpec) -> str | None:
    """The Unix account to become on the cluster, None where the login itself is used.

    Raise WrongUsage where it is not known who asks, or who asks may not.
    """
    config = getattr(stack, "config", {})

    def value(key: str) -> Any:
        return scoped(config, TargetKind.SLURM, target.key, stack.workspace, {}, key)

    if not config or not value("submit_as_user"):
        return None
    requester = stack.requester
    if not requester:
        raise WrongUsage(
            f"{target.key}: `submit_as_user` needs to know who asks: --requester NAME, or "
            "`requester_env` in the stack"
        )
    account = _account(requester, value("username_map"))
    if account is None:
        raise WrongUsage(f"{target.key}: requester {requester!r} is not in `username_map`")
    if not _NAME.fullmatch(account) or account in _NEVER:
        raise WrongUsage(f"{target.key}: nothing is run as account {account!r}")
    return account


def _account(requester: str, names: object) -> str | None:
    """Without a map the part before the `@`, as in SkyPilot; with one only whom it lists."""
    if isinstance(names, Mapping) and names:
        found = names.get(requester)
        return None if found is None else str(found)
    return requester.partition("@")[0]
