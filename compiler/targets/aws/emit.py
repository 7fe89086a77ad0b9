"""The texts of a run and of the whole project, from the lowered data."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import cache

from compiler.model import GitWorkdir, Stack, TargetSpec, names
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.rendering.environment import render
from compiler.targets.aws.buckets import bucket_uses
from compiler.targets.aws.hooks import hook_calls, stop_seconds
from compiler.targets.aws.lower import Workload, accelerator_family
from compiler.targets.aws.mounting import mounts
from compiler.targets.aws.options import AwsOptions, options_of
from compiler.targets.aws.ownership import owner_of
from compiler.targets.aws.programs import literal, run_module, volume_module
from compiler.targets.aws.scripts import digests_of, scripts_of, static_text
from compiler.targets.aws.volumes import lower_volume
from compiler.targets.interface import Job

_LIBRARIES = ("filesystems", "grants", "machines", "permissions", "runs", "volumes")
_STATIC = (
    "__main__.py",
    *(f"common/{name}.py" for name in _LIBRARIES),
)
_PROJECT_LIMIT = 100
_KINDS = {"py": ArtifactKind.PROGRAM, "sh": ArtifactKind.SHELL, "env": ArtifactKind.SHELL}


def emit_job(job: Job, workload: Workload) -> tuple[Artifact, ...]:
    """The run's module, boot script and scripts. ValueError for a text no script can hold."""
    options = workload.options
    job_env = render("aws/job.env.j2", _job_env(job, workload))
    files = scripts_of(job, workload.instance, options.region, job_env)
    run_url = _run_url(job, workload)
    user_data = render(
        "aws/user_data.sh.j2",
        {
            "job": workload.name,
            "region": options.region,
            "scripts_url": f"{run_url}/scripts/",
            "digests": digests_of(files),
            "ends": workload.ends,
            "stop_seconds": stop_seconds(job.task),
        },
    )
    module = run_module(workload)
    base, name = f"aws/{job.target.key}", workload.name
    return (
        _artifact(f"{base}/workloads/{workload.module}.py", module, f"Program/{name}"),
        _artifact(f"{base}/user_data/{name}.sh", user_data, f"UserData/{name}"),
        *(
            _artifact(f"{base}/scripts/{name}/{file}", text, f"Script/{name}/{file}")
            for file, text in files.items()
        ),
    )


def emit_volume(job: Job) -> tuple[Artifact, ...]:
    """The module of a volume."""
    volume = lower_volume(job)
    path = f"aws/{job.target.key}/volumes/{volume.module}.py"
    return (_artifact(path, volume_module(volume), f"Program/{volume.name}"),)


def emit_project(stack: Stack, target: TargetSpec) -> tuple[Artifact, ...]:
    """The files that do not depend on which runs there are."""
    options = options_of(target, stack)
    base = f"aws/{target.key}"
    texts = {
        "Pulumi.yaml": render("aws/Pulumi.yaml.j2", _project(stack, target)),
        f"Pulumi.{stack.set_name}.yaml": render(
            "aws/Pulumi.stack.yaml.j2",
            {"region": options.region, "account": options.account, "profile": options.profile},
        ),
        "requirements.txt": static_text("requirements.txt"),
        **{name: static_text(name) for name in _STATIC},
        "common/__init__.py": '"""What all workloads of the stack use."""\n',
        "common/settings.py": render("aws/common/settings.py.j2", _settings(stack, target)),
        "common/network.py": render("aws/common/network.py.j2", _network(options)),
        "volumes/__init__.py": '"""One module a volume."""\n',
        "workloads/__init__.py": '"""One module a run."""\n',
    }
    return tuple(
        _artifact(f"{base}/{name}", text, f"Project/{target.key}/{name}")
        for name, text in texts.items()
    )


def _artifact(path: str, text: str, name: str) -> Artifact:
    suffix = path.rpartition(".")[2]
    return Artifact(path, text, _KINDS.get(suffix, ArtifactKind.CONFIG), name)


def _run_url(job: Job, workload: Workload) -> str:
    options = workload.options
    runs = options.runs_prefix(job.stack.set_name, job.target.key)
    return f"s3://{options.bucket}/{runs}/{workload.run_key}"


def _job_env(job: Job, workload: Workload) -> dict[str, object]:
    options, image, workdir = workload.options, job.resources.image, job.task.workdir
    git = workdir if isinstance(workdir, GitWorkdir) else None
    pinned = next((tree for tree in job.trees if tree.git_url), None)
    return {
        "job": workload.name,
        "run_url": _run_url(job, workload),
        "files_url": f"s3://{options.bucket}/{options.files_prefix}",
        "nodes": workload.nodes,
        "ends": workload.ends,
        "accelerator": accelerator_family(workload.instance),
        "efa": workload.efa.count if workload.efa else 0,
        "container_image": image.docker if image and image.docker else "",
        "container_options": _run_options(job),
        "git_url": git.url if git else "",
        "git_ref": (pinned.git_ref if pinned else git.ref if git else None) or "",
        "trees": [
            f"{tree.digest} {'file' if set(tree.files) == {''} else 'folder'} {tree.destination}"
            for tree in job.trees
            if tree.local is not None
        ],
        "secrets": [
            f"{item.name}={item.source}" for item in workload.secrets if item.mount_path is None
        ],
        "secret_files": [
            (item.source, item.mount_path) for item in workload.secrets if item.mount_path
        ],
        "log_group": options.log_group,
        "log_days": options.log_days,
        "buckets": [use.words for use in bucket_uses(job.task)],
        "idle": workload.idle,
        "hooks": hook_calls(job.task),
        "volumes": workload.volumes,
        "mounts": mounts(job),
    }


def _run_options(job: Job) -> list[str]:
    """`docker.run_options` of the task, else of the stack, as words of a shell."""
    for layer in (job.task.config, job.stack.config):
        docker = layer.get("docker")
        options = docker.get("run_options") if isinstance(docker, Mapping) else None
        if options:
            texts = [options] if isinstance(options, str) else list(options)
            return [word for text in texts for word in shlex.split(str(text))]
    return []


def _project(stack: Stack, target: TargetSpec) -> dict[str, object]:
    name = names.cut(f"triplane-{stack.set_name}-{target.key}", _PROJECT_LIMIT - 9)
    return {
        # Another owner's stack may have the same name, and its state the same backend.
        "project": f"{name}-{owner_of(stack, target).digest}",
        "description": f"Set {stack.set_name} on {target.key}, written by triplane: change the "
        "tasks and render again",
    }


def _settings(stack: Stack, target: TargetSpec) -> dict[str, object]:
    options = options_of(target, stack)
    return {
        "lit": literal,
        "set_name": stack.set_name,
        "region": options.region,
        "partition": options.partition,
        "bucket": options.bucket or "",
        "runs_prefix": options.runs_prefix(stack.set_name, target.key),
        "files_prefix": options.files_prefix,
        "tags": [*owner_of(stack, target).tags.items(), *sorted(options.tags.items())],
    }


@cache
def _is_id(text: str, kind: str) -> bool:
    return re.fullmatch(rf"{kind}-[0-9a-f]{{8,17}}", text) is not None


def _network(options: AwsOptions) -> dict[str, object]:
    vpc, subnets = options.vpc, options.subnets
    by_id = all(_is_id(subnet, "subnet") for subnet in subnets)
    return {
        "lit": literal,
        "vpc_id": vpc if vpc and _is_id(vpc, "vpc") else None,
        "vpc_name": vpc if vpc and not _is_id(vpc, "vpc") else None,
        "subnets": subnets,
        "subnet_filter": ("subnet-id" if by_id else "tag:Name") if subnets else None,
    }
