"""The folder of scripts of one run: the launcher, its adapter, the user's texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compiler.model.names import work_label
from compiler.rendering.environment import render
from compiler.rendering.filetree import FileTree
from compiler.rendering.launcher import Placement, gpus_per_node, script_folder, task_env
from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import Addition
from compiler.targets.kubernetes.archive import is_single_file, root_of
from compiler.targets.kubernetes.files import Brought
from compiler.targets.kubernetes.group_hosts import HOSTS
from compiler.targets.kubernetes.metadata import Names
from compiler.targets.kubernetes.places import Place, place_of
from compiler.targets.kubernetes.pod import FILES_FOLDER, STATE_FOLDER
from compiler.targets.kubernetes.secrets import SecretUse
from compiler.targets.kubernetes.settings import Settings

# What the stack has run in every pod before the task.
FIRST = "first.sh"
_TEMPLATE = "k8s/platform.sh.j2"


def scripts(
    job: Job,
    settings: Settings,
    names: Names,
    secrets: Iterable[SecretUse],
    added: Addition,
    brought: Brought,
) -> dict[str, str]:
    """File name -> text of the script folder. Raise ValueError for what a script cannot hold."""
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
                place_of(root_of(tree), f"{FILES_FOLDER}/{key}") for key, tree in brought.archives
            ]
            + [
                place_of(root_of(item.tree), item.path)
                for item in brought.stored
                if not is_single_file(item.tree)
            ],
            "files": [
                place_of(item.tree.destination, item.path)
                for item in brought.stored
                if is_single_file(item.tree)
            ],
            "folders": [
                place_of(tree.destination, found.folder or ".", found.commit)
                for found, tree in brought.folders
            ],
            "repository": brought.repository,
            "repositories": [_repository(tree) for tree in job.trees if tree.git_url is not None],
            "secret_files": [
                place_of(str(secret.mount_path), secret.file)
                for secret in secrets
                if secret.is_in_home
            ],
            "has_first": bool(settings.first_commands),
            "links": added.links,
            "waits_for": added.waits_for,
            "group": job.group_name if HOSTS in added.scripts else None,
            "group_service": names.service,
            "group_prefix": work_label(job.stack.set_name, job.group_name or job.work),
        },
    )
    files = script_folder(job.task, _variables(job, settings), platform)
    if settings.first_commands:
        files[FIRST] = "".join(f"{line}\n" for line in settings.first_commands)
    files.update(added.scripts)
    return files


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


def _repository(tree: FileTree) -> Place:
    return place_of(root_of(tree), str(tree.git_url), tree.git_ref or "")
