"""Writing the state folder: configuration, users, keys, and the plugin."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path

from . import access, config
from .hosts import PATH, SiteError
from .install import slurm_version
from .model import INFRA_HOST
from .settings import Settings

_PLUGIN_SOURCE = Path(__file__).with_name("container_options.c")


def prepare(settings: Settings) -> None:
    """Writes everything that the daemons read.  What must survive (keys) is not written twice."""
    state = settings.state
    for name in ("log", "pids", "gpus", "munge/socket"):
        (state / name).mkdir(parents=True, exist_ok=True)
    state.chmod(0o755)
    for path in (state, *state.parents):
        if not path.stat().st_mode & 0o001:
            raise SiteError(f"{path} is not searchable by all users")
    settings.save()
    for name in config.gpu_devices():
        device = state / "gpus" / name
        if not device.is_symlink():  # Slurm wants character devices
            device.symlink_to("/dev/null")
    access.make_users(state, settings.root)
    specs = [spec for _, spec, _ in settings.specs()]
    (state / "etc/hosts").write_text(config.hosts_file(specs, settings.ports))
    key = state / "munge/key"
    if not key.exists():
        key.touch(mode=0o400)
        key.write_bytes(secrets.token_bytes(128))
    _make_tmp(settings, INFRA_HOST)
    _prepare_clusters(settings)
    _make_plugin(settings)


def _make_tmp(settings: Settings, host: str) -> None:
    tmp = settings.state / "hosts" / host / "tmp"
    tmp.mkdir(parents=True, exist_ok=True)
    tmp.chmod(0o1777)


def _prepare_clusters(settings: Settings) -> None:
    slurm = access.site_accounts(settings.state)["slurm"]
    cgroup = config.cgroup_conf(slurm_version(settings.root))
    for index, spec, folder in settings.specs():
        for name in ("etc", "state", "log", "run"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name in ("state", "log", "run"):
            os.chown(folder / name, *slurm)
        for node in spec.nodes:
            (folder / "spool" / spec.host(node.name)).mkdir(parents=True, exist_ok=True)
        for short in ("ctl", "login", *(node.name for node in spec.nodes)):
            _make_tmp(settings, spec.host(short))
        slurm_conf = config.slurm_conf(
            spec, index, settings.ports, folder, accounting=settings.accounting
        )
        files = {
            "slurm.conf": slurm_conf,
            "gres.conf": config.gres_conf(spec, settings.state / "gpus"),
            "cgroup.conf": cgroup,
            "plugstack.conf": f"required {_plugin(settings)} {settings.state}/containers\n",
            "sshd_config": config.sshd_config(settings.ports.login(index), folder),
        }
        for name, text in files.items():
            if text is not None:
                (folder / "etc" / name).write_text(text)
        access.make_key(folder / "hostkey")


def _plugin(settings: Settings) -> Path:
    return settings.state / "container_options.so"


def _make_plugin(settings: Settings) -> None:
    # With the headers of the very Slurm that is going to load it.
    source = settings.state / _PLUGIN_SOURCE.name
    shutil.copy(_PLUGIN_SOURCE, source)
    gcc = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-o", str(_plugin(settings)), str(source)]
    argv = settings.context.argv(INFRA_HOST, ["env", "-i", f"PATH={PATH}", *gcc])
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SiteError(f"gcc failed:\n{done.stderr}")
