"""Projects on the real site; their namespaces end with the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kubernetes.contract_runs import apply_runs
from tests.kubernetes.golden_runs import GoldenRuns
from tests.kubernetes.project import Maker, Project, name_of
from tests.kubernetes.recovery_runs import apply_recovering
from tests.kubernetes_site import KubernetesSite


@pytest.fixture(scope="session")
def golden_runs(kubernetes_site: KubernetesSite) -> Iterator[GoldenRuns]:
    """Golden jobs on the real node, from the moment on at which they were started."""
    made = GoldenRuns(kubernetes_site)
    made.start()
    yield made
    made.clean()


@pytest.fixture(scope="session")
def contract_runs(
    kubernetes_site: KubernetesSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """A set whose runs show the runtime contract."""
    roles = ("plan", "apply", "exec")
    folder = tmp_path_factory.mktemp("runs")
    made = Project(kubernetes_site, folder, "runs", real=True, roles=roles)
    apply_runs(made)
    yield made
    made.clean()


@pytest.fixture(scope="session")
def recovery_runs(
    kubernetes_site: KubernetesSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """A set whose runs recover, or do not."""
    folder, target = tmp_path_factory.mktemp("recovery"), {"jobset": "0.12"}
    made = Project(kubernetes_site, folder, "again", real=True, target=target)
    apply_recovering(made)
    yield made
    made.clean()


@pytest.fixture(scope="session", autouse=True)
def _start_early(request: pytest.FixtureRequest) -> None:
    """What takes a minute by itself begins before the tests that need no waiting."""
    wanted = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    for name in ("contract_runs", "recovery_runs", "golden_runs"):
        if name in wanted:
            request.getfixturevalue(name)


@pytest.fixture
def new_project(
    kubernetes_site: KubernetesSite,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Maker]:
    """Makes projects called like the test."""
    made: list[Project] = []

    def make(**settings: Any) -> Project:
        folder = tmp_path_factory.mktemp("project")
        made.append(Project(kubernetes_site, folder, name_of(request.node.name), **settings))
        return made[-1]

    yield make
    for project in made:
        project.clean()


@pytest.fixture
def project(new_project: Maker) -> Project:
    """A project whose pods kwok plays."""
    return new_project()
