"""The accounting side of a site: MariaDB's data, and accounts, users and QOS in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from . import config
from .hosts import PATH, Context, SiteError, wait_until
from .model import INFRA_HOST, Ports

Sacctmgr = Callable[..., "subprocess.CompletedProcess[str]"]

_ACCOUNTS = (
    # A QOS must exist before another may name it in Preempt=.
    "add qos scavenge Priority=0 PreemptMode=requeue",
    "add qos high Priority=100 Preempt=scavenge",
    "add qos small Priority=10 MaxTRESPerUser=gres/gpu=4 Flags=DenyOnLimit",
    "add account research Cluster={clusters} Description=research Organization=lab",
    "add account teaching Cluster={clusters} Description=teaching Organization=lab",
    "add user alice Account=research Cluster={clusters} DefaultAccount=research"
    " QOS=normal,high,scavenge DefaultQOS=normal",
    "add user bob Account=teaching Cluster={clusters} DefaultAccount=teaching"
    " QOS=normal,small DefaultQOS=normal",
    "add user ops Account=research Cluster={clusters} DefaultAccount=research AdminLevel=Admin",
)
_HARMLESS = re.compile(r"already exist|nothing (new|modified)|nothing to", re.IGNORECASE)


def server_command(state: Path, ports: Ports | None) -> list[str]:
    """MariaDB's command line; without *ports* one that listens nowhere."""
    folder = state / "db"
    command = [
        "mariadbd",
        "--no-defaults",
        "--user=mysql",
        f"--datadir={folder}/data",
        f"--socket={folder}/socket",
        f"--pid-file={folder}/mariadbd.pid",
        "--skip-name-resolve",
        "--skip-log-bin",
        "--innodb-buffer-pool-size=128M",
        "--innodb-log-file-size=64M",
        "--innodb-lock-wait-timeout=900",
        # Nobody needs this data after a crash.
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-flush-method=nosync",
        "--skip-innodb-doublewrite",
        "--loose-skip-innodb-file-per-table",
        "--skip-sync-frm",
        "--debug-no-sync",
    ]
    if ports is None:
        return [*command, "--skip-networking"]
    return [
        *command,
        f"--bind-address={ports.database.host}",
        f"--port={ports.database.port}",
        f"--init-file={folder}/init.sql",
    ]


def prepare_database(context: Context, accounts: dict[str, tuple[int, int]]) -> None:
    """Makes MariaDB's data folder unless it is there.

    Only with the tables that the server cannot do without: mariadb-install-db would also load the
    help texts and more, and take three times as long.
    """
    folder = context.state / "db"
    data = folder / "data"
    if not (folder / "made").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (data / "mysql").mkdir(parents=True)
        for path in (folder, data, data / "mysql"):
            os.chown(path, *accounts["mysql"])
        share = (context.root or Path("/")) / "usr/share"
        tables = [
            *share.glob("mysql/*_system_tables.sql"),
            *share.glob("mariadb/*_system_tables.sql"),
        ]
        if not tables:
            raise SiteError(f"MariaDB's *_system_tables.sql is not in {share}/mysql")
        server = [*server_command(context.state, None), "--bootstrap"]
        done = subprocess.run(
            context.argv(INFRA_HOST, ["env", "-i", f"PATH={PATH}", *server]),
            input="USE mysql;\n" + tables[0].read_text(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SiteError(f"MariaDB's first start failed:\n{done.stderr}")
        (folder / "made").touch()
    (folder / "init.sql").write_text(config.DATABASE_INIT)


def prepare_slurmdbd(context: Context, ports: Ports, accounts: dict[str, tuple[int, int]]) -> None:
    """Writes slurmdbd's configuration."""
    folder = context.state / "dbd"
    folder.mkdir(exist_ok=True)
    file = folder / "slurmdbd.conf"
    file.write_text(config.slurmdbd_conf(ports, folder))
    file.chmod(0o600)
    for path in (folder, file):
        os.chown(path, *accounts["slurm"])


def register_clusters(sacctmgr: Sacctmgr, clusters: Sequence[str]) -> None:
    """Adds the clusters to the database, which must happen before their slurmctld starts."""
    wait_until(lambda: sacctmgr("-n", "show", "cluster").returncode == 0, 20, "sacctmgr")
    _change(sacctmgr, f"add cluster {','.join(clusters)}")


def make_accounts(sacctmgr: Sacctmgr, clusters: Sequence[str]) -> None:
    """Adds QOS, accounts and users.  slurmctld must run: it is what makes gres/gpu known."""

    def gpus_known() -> bool:
        return "gres|gpu|" in sacctmgr("-n", "-P", "show", "tres").stdout

    wait_until(gpus_known, 30, "gres/gpu in the database")
    for command in _ACCOUNTS:
        _change(sacctmgr, command.format(clusters=",".join(clusters)))


def _change(sacctmgr: Sacctmgr, command: str) -> None:
    done = sacctmgr("-i", *command.split())
    output = done.stdout + done.stderr
    if done.returncode != 0 and not _HARMLESS.search(output):
        raise SiteError(f"sacctmgr {command}: exit code {done.returncode}\n{output}")
