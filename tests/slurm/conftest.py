"""Projects on the real site, for the tests of whole commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.slurm.project import Project, name_of
from tests.slurm.submitting import Submitter
from tests.slurm_site import SlurmSite


@pytest.fixture
def new_project(
    slurm_site: SlurmSite, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Project]]:
    """Makes projects called like the test; their jobs end with it."""
    made: list[Project] = []

    def make(site: SlurmSite | None = None, **settings: Any) -> Project:
        folder = tmp_path_factory.mktemp("project")
        made.append(Project(site or slurm_site, folder, name_of(request.node.name), **settings))
        return made[-1]

    yield make
    for project in made:
        project.clean()


@pytest.fixture
def project(new_project: Callable[..., Project]) -> Project:
    """A project on alpha alone."""
    return new_project()


@pytest.fixture
def submit(slurm_site: SlurmSite) -> Iterator[Submitter]:
    submitter = Submitter(slurm_site)
    yield submitter
    submitter.cancel_all()
