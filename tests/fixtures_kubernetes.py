"""The fixture with a real Kubernetes: ``kubernetes_site`` (tests.kubernetes_site.KubernetesSite).

It is started by the first test that wants it and removed at the end of the session, however
that ends. All tests of a session share it: each works in a namespace of its own.

Where it cannot run the tests are skipped and the summary says so; with CI=true they fail.

Environment:
    TRIPLANE_KUBERNETES_SITE   state folder of a running site to use, which is left up
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kubernetes_site import KubernetesSite, SiteError, missing
from tests.needs import give_up

_TOP = Path(__file__).parent.parent
_VARIABLE = "TRIPLANE_KUBERNETES_SITE"
_NOT_RUN = pytest.StashKey[str]()


@pytest.fixture(scope="session")
def kubernetes_site(request: pytest.FixtureRequest) -> Iterator[KubernetesSite]:
    """One cluster for the session."""
    folder = os.environ.get(_VARIABLE)
    if folder:
        yield _reuse(folder)
        return
    if reasons := missing():
        _give_up(request.config, "; ".join(reasons))
    site = KubernetesSite.temporary()
    with _watched(site):
        try:
            site.up()
            yield site
        finally:
            site.down()


class Loud:
    """Says at the end when tests were not run for want of a cluster."""

    @staticmethod
    def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
        if reason := config.stash.get(_NOT_RUN, ""):
            terminalreporter.section("KUBERNETES TESTS WERE NOT RUN", sep="!", red=True, bold=True)
            terminalreporter.line(reason)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Loud(), "kubernetes-not-run")


def _reuse(folder: str) -> KubernetesSite:
    try:
        site = KubernetesSite.load(folder)
    except SiteError as error:
        pytest.fail(f"{_VARIABLE}: {error}", pytrace=False)
    if not site.running():
        pytest.fail(f"{_VARIABLE}: the site in {folder} is not up", pytrace=False)
    return site


def _give_up(config: pytest.Config, reason: str) -> None:
    config.stash[_NOT_RUN] = reason
    give_up(f"no Kubernetes: {reason}")


@contextlib.contextmanager
def _watched(site: KubernetesSite) -> Iterator[None]:
    """Takes the site down even if this process is killed: a shell waits for the end of a pipe
    that only this process can write to."""
    watcher = subprocess.Popen(
        [
            "sh",
            "-c",
            'read -r _ || exec "$0" -m tests.kubernetes_site down "$1"',
            sys.executable,
            str(site.state),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=_TOP,
        start_new_session=True,
    )
    try:
        yield
    except BaseException:  # also an interruption while the site is taken down
        watcher.communicate()
        raise
    watcher.communicate(b"done\n")
