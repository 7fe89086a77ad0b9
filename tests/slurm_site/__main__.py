"""The site from the command line; run it from the top of the repository."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from . import SiteError, SlurmSite, install, make_root
from .install import missing_packages
from .model import CLUSTERS

_EXAMPLES = """\
  python -m tests.slurm_site install
  python -m tests.slurm_site up                    # prints the state folder and how to get in
  python -m tests.slurm_site run STATE alpha alice sinfo
  TRIPLANE_SLURM_SITE=STATE pytest tests/slurm     # tests use this site, and leave it up
  python -m tests.slurm_site down STATE
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.slurm_site",
        description="A real Slurm site (two clusters) on this machine, for tests.",
        epilog=f"examples:\n{_EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = commands.add_parser("install", help="install the Debian packages (root)")
    command.set_defaults(run=_install)

    command = commands.add_parser("make-root", help="make a Debian tree with another Slurm")
    command.add_argument("root", type=Path)
    command.add_argument("--suite", default="trixie", help="Debian release (default trixie: 24.11)")
    command.set_defaults(run=_make_root)

    command = commands.add_parser("up", help="bring a site up")
    command.add_argument("state", nargs="?", help="state folder (default: a new one below /tmp)")
    command.add_argument("--base-port", type=int, help="first of 40 ports (default: any free)")
    command.add_argument("--clusters", default=",".join(CLUSTERS), metavar="NAME,...")
    command.add_argument("--no-accounting", action="store_true", help="no slurmdbd, no database")
    command.add_argument("--shared-tmp", action="store_true", help="all hosts see this /tmp")
    command.add_argument("--root", type=Path, help="a tree from make-root, to use its Slurm")
    command.set_defaults(run=_up)

    command = commands.add_parser("down", help="end a site and remove its folder")
    command.add_argument("state")
    command.add_argument("--keep", action="store_true", help="keep the folder for another up")
    command.set_defaults(run=_down)

    command = commands.add_parser("run", help="run a command on a login host, without SSH")
    command.add_argument("state")
    command.add_argument("cluster")
    command.add_argument("user", help="alice, bob, svc, ops or root")
    command.add_argument("argv", nargs=argparse.REMAINDER, metavar="COMMAND...")
    command.set_defaults(run=_run)

    command = commands.add_parser("service", help="stop, start or restart one daemon")
    command.add_argument("state")
    command.add_argument("action", choices=["stop", "start", "restart"])
    command.add_argument("name", help="alpha-ctl, alpha-h1, alpha-login, slurmdbd, munged, ...")
    command.set_defaults(run=_service)
    return parser


def _install(_: argparse.Namespace) -> int:
    packages = missing_packages()
    if packages:
        print(f"not installed: {' '.join(packages)}", flush=True)
        install()
    print("all packages are installed")
    return 0


def _make_root(options: argparse.Namespace) -> int:
    make_root(options.root, options.suite)
    print(f"Slurm in {options.root.resolve()}")
    return 0


def _up(options: argparse.Namespace) -> int:
    settings = {
        "base_port": options.base_port,
        "clusters": options.clusters.split(","),
        "accounting": not options.no_accounting,
        "private_tmp": not options.shared_tmp,
        "root": options.root,
    }
    made = options.state is None
    site = SlurmSite.temporary(**settings) if made else SlurmSite(options.state, **settings)
    start = time.monotonic()
    try:
        site.up()
    except BaseException:
        site.down(purge=made)
        raise
    print(f"up in {time.monotonic() - start:.1f} s")
    print(f"export TRIPLANE_SLURM_SITE={site.state}")
    for cluster in site.clusters:
        print(" ".join(site.ssh(cluster).argv("svc")))
    return 0


def _down(options: argparse.Namespace) -> int:
    if Path(options.state).exists():
        SlurmSite.load(options.state).down(purge=not options.keep)
    return 0


def _run(options: argparse.Namespace) -> int:
    site = SlurmSite.load(options.state)
    argv = site.argv(options.cluster, options.user, options.argv or ["/bin/bash", "-l"])
    return subprocess.run(argv, check=False).returncode


def _service(options: argparse.Namespace) -> int:
    SlurmSite.load(options.state).service(options.name, options.action)
    return 0


def main() -> int:
    """Parses the command line; an expected failure is one message and exit code 1."""
    options = _parser().parse_args()
    try:
        return options.run(options)
    except SiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
