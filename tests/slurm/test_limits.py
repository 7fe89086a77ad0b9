"""What account and QOS leave of a cluster, on the real one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

QOS = {"config": {"slurm": {"quota": {"queue": "small"}}}}  # at most 4 GPUs a user


def free(project: Project) -> int | None:
    """The free GPUs that the plan of a new task counts with."""
    project.task("more", resources={"infra": "slurm", "accelerators": "H100:1", "cpus": 1})
    (row,) = project.plan("tasks/more.yaml")["more"].placement
    return row.free


def test_only_what_our_qos_leaves_is_free(new_project: Callable[..., Project]) -> None:
    everything = free(new_project(user="bob"))
    assert everything is not None and everything > 4
    project = new_project(user="bob", stack=QOS)
    assert "at most 4 GPUs by account and QOS" in project.triplane("check").out
    assert free(project) == 4
    project.batch("--qos=small", "--partition=gpu", "--gres=gpu:h100:3")
    assert free(project) == 1
    assert "at most 1 GPUs by account and QOS" in project.triplane("check").out
