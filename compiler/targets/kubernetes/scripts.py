"""The folder of scripts of one run: the launcher, its adapter, the user's texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from compiler.rendering.environment import render
from compiler.rendering.filetree import FileTree
from compiler.rendering.launcher import Placement, gpus_per_node, script_folder, task_env
from compiler.targets.interface import Job
from compiler.targets.kubernetes.archive import root_of
from compiler.targets.kubernetes.metadata import Names
from compiler.targets.kubernetes.pod import FILES_FOLDER, STATE_FOLDER
from compiler.targets.kubernetes.secrets import SecretUse
from compiler.targets.kubernetes.settings import Settings

_TEMPLATE = "k8s/platform.sh.j2"


@dataclass(frozen=True, slots=True)
class Placed:
    """A source and where it goes: `path` below the home if `in_home`, else absolute."""

    source: str
    path: str
    in_home: bool
    ref: str = ""


def scripts(
    job: Job, settings: Settings, names: Names, secrets: Iterable[SecretUse]
) -> dict[str, str]:
    """File name -> text of the script folder. Raise ValueError for what a script cannot hold."""
    local = [tree for tree in job.trees if tree.local is not None]
    platform = render(
        _TEMPLATE,
        {
            "job": names.job,
            "service": names.service,
            "ready_service": names.ready_service,
            "ranks": job.task.num_nodes,
            "peer_timeout": settings.peer_timeout,
            "state_folder": STATE_FOLDER,
            "archives": [
                _placed(f"{FILES_FOLDER}/{archive_key(index)}", root_of(tree))
                for index, tree in enumerate(local)
            ],
            "repositories": [_repository(tree) for tree in job.trees if tree.git_url is not None],
            "secret_files": [
                _placed(secret.file, str(secret.mount_path))
                for secret in secrets
                if secret.is_in_home
            ],
        },
    )
    return script_folder(job.task, _variables(job, settings), platform)


def archive_key(index: int) -> str:
    """The key of a tree's archive in the ConfigMap of files."""
    return f"{index}.tar.gz"


def _variables(job: Job, settings: Settings) -> Mapping[str, str]:
    placement = Placement(
        cluster_name=job.name,
        cloud="kubernetes",
        region=settings.context,
        zone=job.resources.infra.zone,
    )
    return task_env(
        job.task,
        task_id=job.task_id,
        placement=placement,
        gpus=gpus_per_node(job.resources.accelerator),
        run=job.run,
        group=job.group_name,
    )


def _repository(tree: FileTree) -> Placed:
    placed = _placed(str(tree.git_url), root_of(tree))
    return Placed(placed.source, placed.path, placed.in_home, tree.git_ref or "")


def _placed(source: str, destination: str) -> Placed:
    path = PurePosixPath(destination)
    if path.parts[:1] == ("~",):
        return Placed(source, str(PurePosixPath(*path.parts[1:])), in_home=True)
    return Placed(source, str(path), in_home=False)
