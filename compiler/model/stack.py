"""A stack: which targets exist, how each is reached, and what one apply owns."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.model.origin import Origin

DEFAULT_WORKSPACE = "default"
"""The workspace of tasks that name none; it need not be described."""


class TargetKind(enum.StrEnum):
    KUBERNETES = "kubernetes"
    SLURM = "slurm"
    AWS = "aws"


class Deployer(enum.StrEnum):
    DIRECTORY = "directory"
    SERVER_SIDE_APPLY = "server-side-apply"
    PULUMI = "pulumi"
    SSH = "ssh"
    LOCAL = "local"


@dataclass(frozen=True, slots=True, eq=False)
class TargetSpec:
    """One entry of the stack's `targets`; `options` are the keys of its kind, as written.

    `key` is the entry's name, the second part of `infra:`. Equal only to itself, like the
    stack, so that what follows from it can be worked out once.
    """

    key: str
    kind: TargetKind
    deployer: Deployer
    version: str | None
    options: Mapping[str, object]
    origin: Origin = field(repr=False)


@dataclass(frozen=True, slots=True)
class SecretSource:
    """Where a secret's value lives on one target: `kind` is the key of the stack's entry."""

    kind: str
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stack:
    """A stack file. Paths are resolved against the file's own folder.

    `name` is the file's stem; `set_name` what one apply owns; `inputs` and `out` absolute
    paths; `root` the folder that the tasks' relative paths start from (None: the current
    one). `secrets[name][target key]`. `workspaces[name][target key or ""]` are overrides of
    namespace, account and QoS. `let_pass` are rules of the policy that this call overrides;
    they come from its flags and never from the file.
    """

    name: str
    set_name: str
    inputs: tuple[str, ...]
    out: str
    root: str | None
    targets: Mapping[str, TargetSpec]
    secrets: Mapping[str, Mapping[str, SecretSource]]
    policy: Mapping[str, object]
    pricing: Mapping[str, Mapping[str, float]]
    config: Mapping[str, object]
    gitops: str | None
    on_files_change: str
    workspace: str | None
    workspaces: Mapping[str, Mapping[str, Mapping[str, object]]]
    requester_env: str | None
    requester: str | None = None
    origin: Origin = field(repr=False)
    let_pass: frozenset[str] = frozenset()

    def known_workspaces(self) -> frozenset[str]:
        """Names of the workspaces that the stack, or its SkyPilot configuration, describes."""
        described = self.config.get("workspaces")
        configured = described if isinstance(described, Mapping) else {}
        return frozenset({DEFAULT_WORKSPACE, *self.workspaces, *configured})
