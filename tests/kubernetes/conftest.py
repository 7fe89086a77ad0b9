"""Projects on the real site; their namespaces end with the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kubernetes.project import Maker, Project, name_of
from tests.kubernetes_site import KubernetesSite


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
