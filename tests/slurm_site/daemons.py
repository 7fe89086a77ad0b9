"""The daemons of a site, and the order in which they start."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import access, accounting
from .hosts import SiteError, listens, quick_route, wait_until
from .login import run_root
from .model import CLUSTERS, INFRA_HOST, Address
from .settings import Settings


@dataclass(frozen=True)
class Service:
    """A daemon: its host, its /etc/slurm, its command line and where it listens."""

    name: str
    host: str
    conf: Path
    command: Sequence[str | Path]
    address: Address | Path


def services(settings: Settings) -> dict[str, Service]:
    """All daemons by name."""
    found = _infrastructure(settings)
    for index, spec, _ in settings.specs():
        conf = settings.conf(spec.name)
        controller, login = spec.host("ctl"), spec.host("login")
        address = settings.ports.controller(index)
        found.append(Service(controller, controller, conf, ["slurmctld", "-D"], address))
        for position, node in enumerate(spec.nodes):
            name = spec.host(node.name)
            address = settings.ports.node(index, position)
            found.append(Service(name, name, conf, ["slurmd", "-D", "-N", name], address))
        sshd: list[str | Path] = ["/usr/sbin/sshd", "-D", "-e", "-f", conf / "sshd_config"]
        found.append(Service(login, login, conf, sshd, settings.ports.login(index)))
    return {service.name: service for service in found}


def _infrastructure(settings: Settings) -> list[Service]:
    state, conf = settings.state, settings.conf(settings.clusters[0])
    files = [f"--{name}-file={state}/munge/{name}" for name in ("key", "pid", "log", "seed")]
    socket = state / "munge/socket/munge.socket.2"
    found = [Service("munged", INFRA_HOST, conf, ["munged", "--foreground", *files], socket)]
    if settings.accounting:
        ports = settings.ports
        server = accounting.server_command(state, ports)
        slurmdbd = ["slurmdbd", "-D"]
        found += [
            Service("mariadbd", INFRA_HOST, conf, server, ports.database),
            Service("slurmdbd", INFRA_HOST, state / "dbd", slurmdbd, ports.slurmdbd),
        ]
    return found


def start(settings: Settings, service: Service) -> None:
    """Starts one daemon, without waiting for it."""
    settings.context.daemon(service.name, service.host, service.command, service.conf)


def await_ready(settings: Settings, service: Service) -> None:
    """Waits until the daemon accepts connections."""

    def ready() -> bool:
        if not settings.context.pid(service.name):
            raise SiteError(f"{service.name} has ended")
        return listens(service.address)

    wait_until(lambda: settings.context.pid(service.name), 10, f"{service.name} to start")
    wait_until(ready, 60, f"{service.name} to accept connections")


def start_all(settings: Settings) -> None:
    """Starts every daemon; returns when all nodes are idle."""
    found = services(settings)

    def start_and_await(name: str) -> None:
        start(settings, found[name])
        await_ready(settings, found[name])

    def sacctmgr(*words: str) -> subprocess.CompletedProcess[str]:
        return run_root(settings, settings.clusters[0], "sacctmgr", *words)

    quick_route("replace", settings.ports.fast_host)
    start_and_await("munged")
    if settings.accounting:
        accounts = access.site_accounts(settings.state)
        accounting.prepare_database(settings.context, accounts)
        accounting.prepare_slurmdbd(settings.context, settings.ports, accounts)
        start_and_await("mariadbd")
        start_and_await("slurmdbd")
        accounting.register_clusters(sacctmgr, settings.clusters)
    for name, service in found.items():
        if name not in ("munged", "mariadbd", "slurmdbd"):
            start(settings, service)
    if settings.accounting:
        accounting.make_accounts(sacctmgr, settings.clusters)
    for service in found.values():
        await_ready(settings, service)
    for cluster in settings.clusters:
        await_idle(settings, cluster)


def await_idle(settings: Settings, cluster: str) -> None:
    """Waits until all nodes of the cluster are idle."""
    expected = len(CLUSTERS[cluster].nodes)

    def idle() -> bool:
        output = run_root(settings, cluster, "sinfo", "-h", "-N", "-o", "%N %t").stdout
        lines = set(output.splitlines())
        return len(lines) == expected and all(line.endswith(" idle") for line in lines)

    wait_until(idle, 60, f"all nodes of {cluster} to be idle")


def await_controller(settings: Settings, cluster: str) -> None:
    """Waits until the cluster's slurmctld answers."""

    def answers() -> bool:
        return run_root(settings, cluster, "scontrol", "ping").returncode == 0

    wait_until(answers, 30, f"slurmctld of {cluster} to answer")
