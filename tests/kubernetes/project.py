"""A user's project on the real site: a namespace, a stack, tasks, and the command line.

Everything goes through `compiler.cli` or the public `compiler.workflow`, as a user who has the
shipped roles and nothing else; what came of it is read from the cluster by the administrator.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from compiler.cli.main import main
from compiler.diagnostics import Diagnostics
from compiler.model import Stack
from compiler.planning.plan import WorkChange
from compiler.planning.states import RunState
from compiler.workflow import PlanOptions, RunStatus, load_stack, plan, status
from tests.command_line import PROGRAM, TOP, Output
from tests.kubernetes_site import Api, KubernetesSite, path_of

RBAC = TOP / "docs" / "rbac"
JOB, V1 = "batch/v1", "v1"


@dataclass
class Project:
    """A folder with `stack.yaml` and `tasks/`, and a namespace of its own for it.

    `real`: pods run on the real node, else kwok plays them. `roles` are files of docs/rbac that
    the project's user has.
    """

    site: KubernetesSite
    folder: Path
    name: str
    real: bool = False
    roles: tuple[str, ...] = ("plan", "apply")
    target: Mapping[str, object] = field(default_factory=dict)
    stack: Mapping[str, object] = field(default_factory=dict)
    namespace: str = ""

    def __post_init__(self) -> None:
        self.name = f"{self.name[:20].strip('-')}-{uuid.uuid4().hex[:5]}"
        if not self.namespace:
            self.namespace = self.site.namespace(self.name, real=self.real)
        self.user = f"u-{self.name}"
        self.kubeconfig = self.site.user(self.user, self.namespace)
        for role in self.roles:
            self.bind(role)
        (self.folder / "tasks").mkdir(parents=True)
        self.write_stack()

    @property
    def api(self) -> Api:
        return self.site.api

    def bind(self, role: str) -> None:
        """Give the project's user a role of docs/rbac."""
        body = yaml.safe_load((RBAC / f"{role}.yaml").read_text())
        is_wide = body["kind"] == "ClusterRole"
        meta: dict[str, object] = {"name": f"{role}-{self.user}"}
        if not is_wide:
            body["metadata"]["namespace"] = meta["namespace"] = self.namespace
        group = "rbac.authorization.k8s.io"
        binding = {
            "apiVersion": f"{group}/v1",
            "kind": f"{body['kind']}Binding",
            "metadata": meta,
            "roleRef": {"apiGroup": group, "kind": body["kind"], "name": body["metadata"]["name"]},
            "subjects": [{"kind": "User", "name": self.user, "apiGroup": group}],
        }
        self.api.apply(body, binding)

    def write_stack(self, **more: object) -> None:
        """`more` are keys of the stack file."""
        target = {
            "kind": "kubernetes",
            "context": "site",
            "namespace": self.namespace,
            "version": "1.36",
            "labels": "gfd",
            "deployer": "server-side-apply",
            **self.target,
        }
        body = {
            "set": {"name": self.name, "inputs": ["tasks/"]},
            "root": ".",
            "targets": {"prod": target},
            **self.stack,
            **more,
        }
        (self.folder / "stack.yaml").write_text(yaml.safe_dump(body, sort_keys=False))

    def task(self, name: str, run: str | None = "true", **fields: object) -> Path:
        """Write `tasks/<name>.yaml`: by default one small node."""
        body: dict[str, object] = {"name": name, "resources": {"cpus": 1, "memory": 1}, **fields}
        if run is not None:
            body["run"] = run
        path = self.folder / "tasks" / f"{name}.yaml"
        path.write_text(yaml.safe_dump(body, sort_keys=False))
        return path

    # --- commands

    def triplane(self, command: str, *arguments: str | Path) -> Output:
        """One command line, called from the project's folder."""
        words = [command, *map(str, arguments), "--stack", "stack.yaml"]
        out, err = io.StringIO(), io.StringIO()
        with (
            self.as_user(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main(words)
        return Output(code, out.getvalue(), err.getvalue())

    def apply(self, *arguments: str | Path, code: int = 0) -> Output:
        """`apply --auto-approve`; it must end with `code`."""
        done = self.triplane("apply", "--auto-approve", *arguments)
        assert done.code == code, done.text
        return done

    def start(
        self, command: str, *arguments: str, stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[str]:
        """A command line as a process of its own."""
        return subprocess.Popen(
            self.words(command, *arguments),
            cwd=self.folder,
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def words(self, command: str, *arguments: str) -> list[str]:
        return [*PROGRAM, command, "--stack", "stack.yaml", *arguments]

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to be a command line of the project's user."""
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "PYTHONPATH": str(TOP)}

    def plan(self, *paths: str, **options: object) -> dict[str, WorkChange]:
        """The planned change of every work; `options` are PlanOptions."""
        with self.as_user():
            planned = plan(paths, self.load(), options=PlanOptions(**options))  # type: ignore[arg-type]
        return {change.work: change for change in planned.plan.works}

    def runs(self) -> dict[tuple[str, int], RunStatus]:
        with self.as_user():
            found = status(self.load())
        return {(run.work, run.run): run for run in found.runs}

    def until(
        self,
        work: str,
        *states: RunState,
        run: int = 1,
        seconds: float = 90,
        detail: str = "",
    ) -> RunStatus:
        """Look until the run is in one of the states (default: any that is no longer live)."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.runs().get((work, run))
            if found is not None and detail in found.detail and _is_one_of(found, states):
                return found
            assert time.monotonic() < deadline, f"still waiting for {work}: {found}"
            time.sleep(0.3)

    def load(self) -> Stack:
        found = Diagnostics()
        stack = load_stack("stack.yaml", found)
        assert stack is not None, list(found)
        return stack

    # --- the cluster

    def job(self, work: str, run: int = 1) -> dict[str, Any] | None:
        return self.api.find(JOB, "Job", f"{self.name}-{work}-{run}", self.namespace)

    def jobs(self) -> set[str]:
        """The names of all Jobs, without the set's."""
        items = self.api.items(JOB, "Job", self.namespace)
        return {item["metadata"]["name"].removeprefix(f"{self.name}-") for item in items}

    def pods(self, work: str, run: int = 1) -> list[dict[str, Any]]:
        label = f"batch.kubernetes.io/job-name={self.name}-{work}-{run}"
        return self.api.items(V1, "Pod", self.namespace, label)

    def record(self, work: str, run: int = 1) -> dict[str, Any]:
        name = f"triplane-{self.name}-{work}-{run}"
        body = self.api.get(V1, "ConfigMap", name, self.namespace)
        return json.loads(body["data"]["record.json"])

    def patch_job(self, work: str, body: dict, run: int = 1, manager: str = "hand") -> None:
        name = f"{self.name}-{work}-{run}"
        self.api.patch(JOB, "Job", name, body, self.namespace, manager=manager)

    def delete_job(self, work: str, run: int = 1) -> None:
        self.api.delete(JOB, "Job", f"{self.name}-{work}-{run}", self.namespace)

    def evict(self, work: str, run: int = 1) -> None:
        """As a drained node does it."""
        name = self.pods(work, run)[0]["metadata"]["name"]
        meta = {"name": name, "namespace": self.namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        self.api.call("POST", path_of(V1, "Pod", name, self.namespace) + "/eviction", body)

    def clean(self) -> None:
        self.api.delete(V1, "Namespace", self.namespace)

    @contextlib.contextmanager
    def as_user(self) -> Iterator[None]:
        with (
            mock.patch.dict(os.environ, {"KUBECONFIG": str(self.kubeconfig)}),
            contextlib.chdir(self.folder),
        ):
            yield


Maker = Callable[..., Project]


def _is_one_of(found: RunStatus, states: tuple[RunState, ...]) -> bool:
    return found.state in states if states else not found.state.is_live


def claimed(project: Project, name: str, folder: Path) -> tuple[dict, dict]:
    """A claim that pods on all nodes can mount, and the volume behind it: a folder of the real
    node."""
    same = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    volume = {
        "apiVersion": V1,
        "kind": "PersistentVolume",
        "metadata": {"name": f"{project.name}-{name}"},
        "spec": {
            **same,
            "capacity": {"storage": "1Gi"},
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": str(folder)},
            "claimRef": {"namespace": project.namespace, "name": name},
        },
    }
    claim = {
        "apiVersion": V1,
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": project.namespace},
        "spec": {
            **same,
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeName": f"{project.name}-{name}",
        },
    }
    return volume, claim


def name_of(test: str) -> str:
    """A DNS label of a test's name."""
    short = test.removeprefix("test_").partition("[")[0]
    return "".join(sign if sign.isalnum() else "-" for sign in short.lower())
