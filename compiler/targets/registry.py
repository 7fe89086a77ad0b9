"""Which target compiles for a kind of platform, and which deployer reaches it.

Modules are imported when first asked for: a command that only talks to Slurm never loads the
Kubernetes schemas, and fabric is not imported before a connection is wanted.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from compiler.diagnostics import WorkFailed
from compiler.model import Deployer as DeployerKind
from compiler.model import Stack, TargetKind, TargetSpec

if TYPE_CHECKING:
    from compiler.planning.differences import MergeKeys
    from compiler.targets.interface import Deployer, Target


@cache
def target_of(kind: TargetKind) -> Target:
    """The pure half of a platform."""
    return import_module(f"compiler.targets.{kind.value}").TARGET


def deployer_of(stack: Stack, target: TargetSpec, *, read_only: bool = False) -> Deployer:
    """The half that touches the world, as the stack chose it for this target.

    `read_only` is for looking alone: on Kubernetes it then asks by get and list.
    """
    if target.deployer is DeployerKind.DIRECTORY:
        from compiler.targets.directory import DirectoryDeployer

        return DirectoryDeployer(stack, target)
    if target.kind is TargetKind.SLURM:
        from compiler.targets.slurm.deployer import SlurmDeployer

        return SlurmDeployer(stack, target)
    if target.kind is TargetKind.AWS:
        from compiler.targets.aws.deployer import AwsDeployer

        return AwsDeployer(stack, target)
    if target.deployer is DeployerKind.SERVER_SIDE_APPLY:
        from compiler.targets.kubernetes.deployer import KubernetesDeployer

        return KubernetesDeployer(stack, target, read_only=read_only)
    raise WorkFailed(
        f"{target.key}: this version cannot apply with `deployer: {target.deployer}` to "
        f"{target.kind}; `deployer: directory` writes the files for another tool to apply"
    )


def merge_keys_of(target: TargetSpec) -> MergeKeys:
    """The list-map keys of the target's objects, for keyed differences."""
    if target.kind is TargetKind.KUBERNETES:
        return import_module("compiler.targets.kubernetes").merge_keys(target.version)
    return lambda api_version, kind, path: None


def pending_fields_of(target: TargetSpec, before: str, after: str) -> dict[str, str] | None:
    """What the platform must change on a pending run made of `before` to be one of `after`.

    None where it cannot do that in place.
    """
    if target.kind is TargetKind.SLURM and target.deployer is not DeployerKind.DIRECTORY:
        from compiler.targets.slurm.deployer import pending_fields

        return pending_fields(before, after)
    return None
