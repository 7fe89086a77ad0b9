"""The whole site: started in about 20 seconds, used by all tests of a session, ended by them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from . import control_plane, controllers, nodes, real_node
from .api import Api, Refused
from .build import missing as not_built
from .certificates import Authority
from .model import Folder, SiteError
from .versions import DEBIAN


def missing() -> list[str]:
    """Why the site cannot run here; empty if it can."""
    reasons = []
    if os.geteuid() != 0:
        reasons.append("needs root, for containers and their network")
    absent = [name for name in ("containerd", "ctr", "runc", "ip", "iptables") if not _has(name)]
    if not Path("/usr/lib/cni/bridge").exists():
        absent.append("containernetworking-plugins")
    if absent:
        reasons.append(f"not installed: {', '.join(absent)} (Debian: {', '.join(DEBIAN)})")
    if unbuilt := not_built():
        reasons.append(f"not built: {', '.join(unbuilt)} (python -m tests.kubernetes_site build)")
    return reasons


def _has(name: str) -> bool:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is not None


class KubernetesSite:
    """A cluster of this machine: API server, scheduler, controllers, kwok's and one real node."""

    def __init__(self, state: Path) -> None:
        self.state = state.resolve()
        self.folder = Folder(self.state)
        self._facts: dict = {}

    @classmethod
    def temporary(cls) -> KubernetesSite:
        return cls(Path(tempfile.mkdtemp(prefix="triplane-k8s-")))

    @classmethod
    def load(cls, state: str | Path) -> KubernetesSite:
        site = cls(Path(state))
        try:
            site._facts = json.loads((site.state / "site.json").read_text())
        except (OSError, ValueError) as error:
            raise SiteError(f"no site in {state}: {error}") from None
        return site

    def up(self) -> None:
        """Start everything. Raise SiteError with the log of what did not come up."""
        self.state.mkdir(parents=True, exist_ok=True)
        self._facts = control_plane.start(self.folder)
        self._save()
        self.api.apply(*nodes.nodes())
        controllers.start(self.folder, self.api)
        self._facts["node"] = real_node.start(self.folder, self.api)
        self._save()
        self._create_queues()

    def down(self) -> None:
        """End everything that `up` started, and remove the folder."""
        node = self._facts.get("node")
        if node:
            real_node.stop(self.folder, node["bridge"])
        self.folder.stop()
        shutil.rmtree(self.state, ignore_errors=True)

    def running(self) -> bool:
        return bool(self._facts) and self.api.ready()

    @property
    def api(self) -> Api:
        return control_plane.api_of(self.folder, self.port)

    @property
    def port(self) -> int:
        return self._facts["ports"]["api"]

    @property
    def kubeconfig(self) -> Path:
        """The administrator's, with the one context `site`."""
        return self.state / "admin.kubeconfig"

    def user(self, name: str, namespace: str = "default") -> Path:
        """The kubeconfig of a user who may do nothing until a binding says otherwise."""
        path = self.state / f"{name}.kubeconfig"
        if not path.exists():
            authority = Authority.of(self.state / "certs")
            authority.issue(name, name)
            control_plane.write_kubeconfig(self.folder, authority, self.port, name, namespace)
        return path

    def namespace(self, name: str, *, real: bool = False, **labels: str) -> str:
        """Make a namespace; `real` sends its pods to the real node."""
        if real:
            labels[real_node.REAL] = "true"
        meta = {"name": name, "labels": labels}
        self.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
        return name

    def stop_api_server(self) -> None:
        self.folder.stop(["apiserver"])

    def start_api_server(self) -> None:
        control_plane.start_api_server(self.folder, self._facts["ports"])

    def _create_queues(self) -> None:
        """Kueue's caches need a moment before its webhooks answer."""

        def created() -> bool:
            try:
                self.api.apply(*nodes.queues())
            except Refused:
                return False
            return True

        self.folder.wait("Kueue", created, "kueue")

    def _save(self) -> None:
        (self.state / "site.json").write_text(json.dumps(self._facts))
