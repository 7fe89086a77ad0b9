"""The text of every configuration file of the site.  No I/O here either."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .model import INFRA_HOST, MAX_GPUS, Address, Cluster, Ports

_SCHEDULER = (
    # Look at the queue all the time: a trivial job then takes about half a second.
    "bf_interval=1,bf_max_time=10,bf_continue,bf_window=10080,"
    "sched_interval=1,sched_min_interval=0,batch_sched_delay=0"
)


def _lines(settings: Mapping[str, object]) -> list[str]:
    return [f"{key}={value}" for key, value in settings.items()]


def slurm_conf(
    cluster: Cluster, index: int, ports: Ports, folder: Path, *, accounting: bool
) -> str:
    """``slurm.conf`` of a cluster whose state, spool and logs lie in *folder*."""
    controller = ports.controller(index)
    settings: dict[str, object] = {
        "ClusterName": cluster.name,
        "SlurmctldHost": f"{cluster.host('ctl')}({controller.host})",
        "SlurmctldPort": controller.port,
        # A job's number is then no number that an output holds for another reason.
        "FirstJobId": 71001,
        # NoInAddrAny would break srun, whose tasks call back on 127.0.0.1.
        "CommunicationParameters": "NoCtldInAddrAny",
        "SlurmUser": "slurm",
        "AuthType": "auth/munge",
        # Also how long a requeued job waits.  5 is the least that Slurm takes.
        "AuthInfo": "cred_expire=5",
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool/%n",
        "SlurmctldPidFile": folder / "run/slurmctld.pid",
        "SlurmdPidFile": folder / "run/slurmd-%n.pid",
        "SlurmctldLogFile": folder / "log/slurmctld.log",
        "SlurmdLogFile": folder / "log/slurmd-%n.log",
        "MailProg": "/bin/true",
        # The nodes claim more than this machine has, so nothing may be bound or confined.
        "ProctrackType": "proctrack/linuxproc",
        "SlurmdParameters": "config_overrides",
        "PropagateResourceLimitsExcept": "MEMLOCK",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "GresTypes": "gpu",
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": _SCHEDULER,
        "EnforcePartLimits": "ALL",
        "JobRequeue": 1,
        "MaxArraySize": 10001,
        "KillWait": 5,
        "CompleteWait": 0,
        "MinJobAge": 300,
        "ReturnToService": 2,
        "SlurmctldTimeout": 30,
        "SlurmdTimeout": 60,
        "MessageTimeout": 10,
        "JobAcctGatherType": "jobacct_gather/linux",
        "JobAcctGatherFrequency": "task=5",
    }
    if accounting:
        gpu_types = sorted({node.gpu_type for node in cluster.nodes if node.gpus})
        settings |= {
            "PriorityType": "priority/multifactor",
            "PriorityWeightQOS": 10000,
            "PriorityWeightAge": 0,
            "PreemptType": "preempt/qos",
            "PreemptMode": "REQUEUE",
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": ports.slurmdbd.host,
            "AccountingStoragePort": ports.slurmdbd.port,
            "AccountingStorageEnforce": "associations,limits,qos,safe",
            "AccountingStorageTRES": ",".join(["gres/gpu", *(f"gres/gpu:{t}" for t in gpu_types)]),
            "AccountingStoreFlags": "job_comment,job_env,job_script",
        }
    return "\n".join([*_lines(settings), *_nodes(cluster, index, ports), *_partitions(cluster), ""])


def _nodes(cluster: Cluster, index: int, ports: Ports) -> list[str]:
    lines = []
    for position, node in enumerate(cluster.nodes):
        address = ports.node(index, position)
        words = {
            "NodeName": cluster.host(node.name),
            "NodeAddr": address.host,
            "Port": address.port,
            "Sockets": 2,
            "CoresPerSocket": node.cpus // 2,
            "ThreadsPerCore": 1,
            "RealMemory": node.memory_mb,
            "TmpDisk": 1000,
            "Feature": node.features,
            "State": "UNKNOWN",
        }
        if node.gres:
            words["Gres"] = node.gres
        lines.append(" ".join(_lines(words)))
    return lines


def _partitions(cluster: Cluster) -> list[str]:
    lines = []
    for partition in cluster.partitions:
        words = {
            "PartitionName": partition.name,
            "Nodes": ",".join(cluster.host(node) for node in partition.nodes),
            "Default": "YES" if partition.default else "NO",
            "MaxTime": partition.max_time,
            "DefaultTime": "01:00:00",
            "DefMemPerCPU": partition.mb_per_cpu,
            "State": "UP",
        }
        lines.append(" ".join(_lines(words)))
    return lines


def gres_conf(cluster: Cluster, devices: Path) -> str:
    """``gres.conf``; with ``File=`` Slurm hands out device numbers (CUDA_VISIBLE_DEVICES)."""
    lines = [
        f"NodeName={cluster.host(node.name)} Name=gpu Type={node.gpu_type}"
        f" File={devices}/nvidia[0-{node.gpus - 1}]"
        for node in cluster.nodes
        if node.gpus
    ]
    return "\n".join([*lines, ""])


def gpu_devices() -> list[str]:
    """The names of the stand-in GPU devices."""
    return [f"nvidia{number}" for number in range(MAX_GPUS)]


def cgroup_conf(version: tuple[int, int]) -> str | None:
    """``cgroup.conf``, or None for a Slurm that starts without cgroups anyway."""
    return "CgroupPlugin=disabled\n" if version >= (23, 11) else None


def slurmdbd_conf(ports: Ports, folder: Path) -> str:
    """``slurmdbd.conf`` (Slurm insists that it belongs to SlurmUser, mode 600)."""
    settings = {
        "DbdHost": INFRA_HOST,
        "DbdAddr": ports.slurmdbd.host,
        "DbdPort": ports.slurmdbd.port,
        "SlurmUser": "slurm",
        "AuthType": "auth/munge",
        "StorageType": "accounting_storage/mysql",
        "StorageHost": ports.database.host,
        "StoragePort": ports.database.port,
        "StorageUser": "slurm",
        "StoragePass": "slurm",
        "StorageLoc": "slurm_acct_db",
        "PidFile": folder / "slurmdbd.pid",
        "LogFile": folder / "slurmdbd.log",
    }
    return "\n".join([*_lines(settings), ""])


def sshd_config(address: Address, folder: Path) -> str:
    """``sshd_config`` of a login host: keys only, no PAM, many connections at once."""
    settings = {
        "ListenAddress": address.host,
        "Port": address.port,
        "HostKey": folder / "hostkey",
        "PidFile": folder / "sshd.pid",
        "UsePAM": "no",
        "PubkeyAuthentication": "yes",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "no",
        # The homes may lie below /tmp, which everybody can write to.
        "StrictModes": "no",
        "Subsystem": "sftp internal-sftp",
        "MaxStartups": "200:30:400",
        "MaxSessions": 200,
        "UseDNS": "no",
        "PrintMotd": "no",
        "PrintLastLog": "no",
        "AcceptEnv": "LANG LC_*",
    }
    return "".join(f"{key} {value}\n" for key, value in settings.items())


def hosts_file(clusters: list[Cluster], ports: Ports) -> str:
    """``/etc/hosts`` for all hosts of the site."""
    lines = ["127.0.0.1 localhost", f"127.0.0.1 {INFRA_HOST}"]
    for index, cluster in enumerate(clusters):
        lines.append(f"{ports.controller(index).host} {cluster.host('ctl')}")
        lines.append(f"{ports.login(index).host} {cluster.host('login')}")
        for position, node in enumerate(cluster.nodes):
            lines.append(f"{ports.node(index, position).host} {cluster.host(node.name)}")
    return "\n".join([*lines, ""])


SUDOERS = "svc ALL=(alice,bob) NOPASSWD: ALL\n"

DATABASE_INIT = "CREATE DATABASE IF NOT EXISTS slurm_acct_db;\n" + "".join(
    f"CREATE USER IF NOT EXISTS slurm@'{host}' IDENTIFIED BY 'slurm';\n"
    f"GRANT ALL ON slurm_acct_db.* TO slurm@'{host}';\n"
    for host in ("localhost", "127.0.0.1")
)
