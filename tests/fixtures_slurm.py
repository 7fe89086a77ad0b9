"""Fixtures with a real Slurm site.  To use them:  ``pytest_plugins = ["tests.fixtures_slurm"]``

``slurm_site``                the clusters alpha and beta with accounting
``slurm_site_no_accounting``  alpha alone, without slurmdbd

Both are a ``tests.slurm_site.SlurmSite``, started by the first test that wants it and removed at
the end of the session, however that ends.  All tests of a session share it: a test that stops
daemons, or leaves jobs, calls ``slurm_site.reset()`` afterwards.

Where Slurm cannot run the tests are skipped and the summary says so; with CI=true they fail.

Environment:
    TRIPLANE_SLURM_SITE                state folder of a running site to use for ``slurm_site``
    TRIPLANE_SLURM_SITE_NO_ACCOUNTING  likewise for ``slurm_site_no_accounting``
    TRIPLANE_SLURM_ROOT                Debian tree (``make-root``) whose Slurm is to be used
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.needs import give_up
from tests.slurm_site import SiteError, SlurmSite, missing

_TOP = Path(__file__).parent.parent
_NOT_RUN = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def slurm_site(request: pytest.FixtureRequest) -> Iterator[SlurmSite]:
    """Two clusters, alpha and beta, with accounting."""
    with _site(request.config, "TRIPLANE_SLURM_SITE", ("alpha", "beta"), True) as site:
        yield site


@pytest.fixture(scope="session")
def slurm_site_no_accounting(request: pytest.FixtureRequest) -> Iterator[SlurmSite]:
    """One cluster, alpha, without slurmdbd: ``sacct`` does not work there."""
    with _site(request.config, "TRIPLANE_SLURM_SITE_NO_ACCOUNTING", ("alpha",), False) as site:
        yield site


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    """Says loudly when tests were not run for want of Slurm."""
    for reason in config.stash.get(_NOT_RUN, []):
        terminalreporter.section("SLURM TESTS WERE NOT RUN", sep="!", red=True, bold=True)
        terminalreporter.line(reason)


@contextlib.contextmanager
def _site(
    config: pytest.Config, variable: str, clusters: tuple[str, ...], accounting: bool
) -> Iterator[SlurmSite]:
    running = os.environ.get(variable)
    if running:
        yield _reuse(variable, running, clusters, accounting)
        return
    root = os.environ.get("TRIPLANE_SLURM_ROOT") or None
    reasons = missing(Path(root) if root else None, accounting=accounting)
    if reasons:
        _give_up(config, "; ".join(reasons))
    site = SlurmSite.temporary(clusters=clusters, accounting=accounting, root=root)
    with _watch(site):
        try:
            site.up()
            yield site
        finally:
            site.down()


def _reuse(variable: str, folder: str, clusters: tuple[str, ...], accounting: bool) -> SlurmSite:
    problem = "is of another kind"
    try:
        site = SlurmSite.load(folder)
        if not site.running():
            problem = "is not up"
        elif site.accounting == accounting and set(clusters) <= set(site.clusters):
            return site
    except SiteError as error:
        problem = f"cannot be used: {error}"
    pytest.fail(f"{variable}: the site in {folder} {problem}", pytrace=False)


def _give_up(config: pytest.Config, reason: str) -> None:
    reasons = config.stash.setdefault(_NOT_RUN, [])
    if reason not in reasons:
        reasons.append(reason)
    give_up(f"no Slurm: {reason}")


@contextlib.contextmanager
def _watch(site: SlurmSite) -> Iterator[None]:
    """Takes the site down even if this process is killed.

    A shell reads from a pipe that only this process can write to: a line means that all is well,
    the end of the file that this process is no more.
    """
    down = 'read -r _ || exec "$0" -m tests.slurm_site down "$1"'
    watcher = subprocess.Popen(
        ["sh", "-c", down, sys.executable, str(site.state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=_TOP,
        start_new_session=True,
    )
    try:
        yield
    except BaseException:  # also a second Ctrl-C, in the middle of taking the site down
        watcher.communicate()
        raise
    watcher.communicate(b"done\n")
