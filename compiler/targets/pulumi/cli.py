"""Whether there is a pulumi command, and where it keeps its state."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from compiler.diagnostics import TargetUnreachable, WorkFailed
from compiler.model import Stack, TargetSpec

INSTALL = "curl -fsSL https://get.pulumi.com | sh"
EXTRA = 'pip install "triplane[pulumi]"'
_LOCAL = "file://"


def require_tools(target: str, *modules: str) -> None:
    """Raise TargetUnreachable, with the command that installs it, for what is missing."""
    from importlib.util import find_spec

    missing = [name for name in ("pulumi", *modules) if find_spec(name) is None]
    if missing:
        raise TargetUnreachable(
            target, f"`deployer: pulumi` needs the Python package {missing[0]}: {EXTRA}"
        )
    if shutil.which("pulumi") is None:
        raise TargetUnreachable(
            target, f"`deployer: pulumi` needs the pulumi command, which is not on PATH: {INSTALL}"
        )


def backend_url(stack: Stack, target: TargetSpec, environ: Mapping[str, str] = os.environ) -> str:
    """The target's `backend`, else PULUMI_BACKEND_URL, else a folder beside the stack file.

    A folder that only this machine has is refused in CI, where the next run would start from
    nothing and create everything again; `shared_backend: true` says that it is not so.
    """
    url = target.options.get("backend") or environ.get("PULUMI_BACKEND_URL")
    if url is None:
        place = Path(stack.origin.document.source.path).absolute().parent
        url = f"{_LOCAL}{place / '.triplane' / 'pulumi'}"
    url = str(url)
    in_ci = environ.get("CI", "").lower() in ("1", "true", "yes")
    if url.startswith(_LOCAL) and in_ci and target.options.get("shared_backend") is not True:
        raise WorkFailed(
            f"{target.key}: the Pulumi state would be in {url}, which the next CI job may not "
            "have: set `backend`, or `shared_backend: true` if it is on shared storage"
        )
    return url


def environment(url: str) -> dict[str, str]:
    """Variables for the pulumi process; makes the folder of a file backend.

    No secret is in the state, so where nobody chose a passphrase an empty one does.
    """
    if url.startswith(_LOCAL):
        Path(url.removeprefix(_LOCAL)).expanduser().mkdir(parents=True, exist_ok=True)
    variables = {"PULUMI_BACKEND_URL": url, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    if not {"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"} & set(os.environ):
        variables["PULUMI_CONFIG_PASSPHRASE"] = ""
    return variables
