"""What the site consists of: clusters, nodes, users, and the daemons' ports.  No I/O here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple


@dataclass(frozen=True)
class Node:
    """A compute node; Slurm believes these numbers, whatever the machine really has."""

    name: str
    cpus: int
    memory_mb: int
    features: str
    gpu_type: str = ""
    gpus: int = 0

    @property
    def gres(self) -> str:
        """The node's ``Gres=`` value, empty without GPUs."""
        return f"gpu:{self.gpu_type}:{self.gpus}" if self.gpus else ""


@dataclass(frozen=True)
class Partition:
    """A partition over some of the cluster's nodes (short names)."""

    name: str
    nodes: tuple[str, ...]
    max_time: str
    mb_per_cpu: int
    default: bool = False


@dataclass(frozen=True)
class Cluster:
    """One Slurm cluster.  Its hosts are called CLUSTER-ctl, CLUSTER-login and CLUSTER-NODE."""

    name: str
    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...]

    def host(self, short: str) -> str:
        """The full host name of a node, of ``ctl`` or of ``login``."""
        return f"{self.name}-{short}"


_H1 = Node("h1", cpus=96, memory_mb=1_000_000, features="h100,ib", gpu_type="h100", gpus=8)
_C1 = Node("c1", cpus=64, memory_mb=250_000, features="cpu")

CLUSTERS = {
    cluster.name: cluster
    for cluster in (
        Cluster(
            "alpha",
            nodes=(
                _H1,
                replace(_H1, name="h2"),
                Node("a1", cpus=64, memory_mb=500_000, features="a100", gpu_type="a100", gpus=4),
                _C1,
            ),
            partitions=(
                Partition("gpu", ("h1", "h2", "a1"), "7-00:00:00", 4000, default=True),
                Partition("cpu", ("c1",), "1-00:00:00", 2000),
            ),
        ),
        Cluster(
            "beta",
            nodes=(_H1, _C1),
            partitions=(Partition("batch", ("h1", "c1"), "2-00:00:00", 2000, default=True),),
        ),
    )
}

USERS = ("alice", "bob", "svc", "ops")
"""alice and bob submit jobs, ops administers Slurm; svc, which has no Slurm account, may become
alice or bob through sudo."""

FIRST_UID = 20101
MAX_GPUS = max(node.gpus for cluster in CLUSTERS.values() for node in cluster.nodes)
INFRA_HOST = "site-infra"
"""The host of munged, the database and slurmdbd."""


class Address(NamedTuple):
    """Where a daemon listens."""

    host: str
    port: int


@dataclass(frozen=True)
class Ports:
    """The site's addresses.  Everything is on loopback: ``SPAN`` ports from ``base`` on."""

    base: int
    SPAN = 40

    @property
    def fast_host(self) -> str:
        """A loopback address of this site alone, for ``hosts.quick_route``."""
        return f"127.200.{self.base >> 8}.{self.base & 255 | 1}"

    @property
    def database(self) -> Address:
        return Address("127.0.0.1", self.base + 1)

    @property
    def slurmdbd(self) -> Address:
        return Address(self.fast_host, self.base + 2)

    def controller(self, index: int) -> Address:
        """slurmctld of the cluster with this index."""
        return Address(self.fast_host, self.base + 10 * (index + 1))

    def login(self, index: int) -> Address:
        """sshd of the cluster with this index."""
        return Address("127.0.0.1", self.base + 10 * (index + 1) + 1)

    def node(self, index: int, position: int) -> Address:
        """slurmd of the node at this position: an address of its own (all of 127/8 is local)."""
        port = self.base + 10 * (index + 1) + 2 + position
        return Address(f"127.0.{index + 1}.{position + 1}", port)
