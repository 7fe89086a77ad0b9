"""A project whose stack has two real Slurm clusters, a real Kubernetes and the AWS of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.aws.conftest import aws, aws_api
from tests.aws.site import BUCKET, REGION, AwsSite
from tests.kubernetes.project import Project as Namespace
from tests.kubernetes_site import KubernetesSite
from tests.slurm.project import Project
from tests.slurm_site import SlurmSite

__all__ = ["aws", "aws_api"]


@pytest.fixture
def namespace(
    kubernetes_site: KubernetesSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Namespace]:
    """A namespace whose pods kwok plays, and its user."""
    made = Namespace(kubernetes_site, tmp_path_factory.mktemp("namespace"), "everywhere")
    yield made
    made.clean()


@pytest.fixture
def everywhere(
    slurm_site: SlurmSite,
    namespace: Namespace,
    aws: AwsSite,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Project]:
    """alpha, beta, prod and us-east-1, in this order; a job on Slurm that has not started after
    two seconds goes on, and beta does not know the account that is asked for."""
    monkeypatch.setenv("KUBECONFIG", str(namespace.kubeconfig))
    slurm = {"kind": "slurm", "deployer": "ssh"}
    prod = {
        "kind": "kubernetes",
        "deployer": "server-side-apply",
        "context": "site",
        "namespace": namespace.namespace,
        "version": "1.36",
    }
    rented = {"kind": "aws", "deployer": "pulumi", "files": {"bucket": f"s3://{BUCKET}"}}
    clusters = {"alpha": {"cpu_partition": "cpu"}, "beta": {"quota": {"account": "nobody"}}}
    project = Project(
        slurm_site,
        tmp_path_factory.mktemp("everywhere"),
        "everywhere",
        clusters=("alpha", "beta"),
        stack={
            "targets": {"alpha": slurm, "beta": slurm, "prod": prod, REGION: rented},
            "config": {
                "slurm": {"provision_timeout": 2, "cluster_configs": clusters},
                # kwok would end what runs at once: so it waits.
                "kubernetes": {"pod_config": {"spec": {"nodeSelector": {"none": "such"}}}},
            },
        },
    )
    yield project
    project.clean()
