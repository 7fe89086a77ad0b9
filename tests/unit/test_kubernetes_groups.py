"""Groups and pipelines on Kubernetes: names, policies, and the scripts as bash runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from compiler.diagnostics import Diagnostics
from compiler.model import names
from compiler.placement import place_together
from compiler.resources import data_folder
from compiler.targets.interface import JoinedGroup
from compiler.targets.kubernetes import TARGET
from compiler.targets.kubernetes.group_names import replicated_name, whole_name
from compiler.workflow import load, load_stack
from compiler.workflow.compile import make_job
from compiler.workflow.prepare import prepare

STACK = """\
set: {name: demo}
targets:
  prod: {kind: kubernetes, version: "1.34", labels: gfd, jobset: "0.12"%s}
"""
RECOVERS = "{job_recovery: {strategy: FAILOVER, max_restarts_on_errors: %s}}"


def rendered(folder: Path, text: str, *, more: str = "", joins: JoinedGroup | None = None, run=1):
    """File name -> object of the one work in `text`; nothing may be an error."""
    (folder / "work.yaml").write_text(text)
    (folder / "stack.yaml").write_text(STACK % more)
    said = Diagnostics()
    stack = load_stack(str(folder / "stack.yaml"), said)
    [work] = load([str(folder / "work.yaml")], said).works
    prepared = prepare(work, stack, said)
    tasks = {member.name: member.task for member in prepared.members}
    placement = place_together(
        tasks,
        stack,
        refuse=lambda *_: (),
        refuse_whole=lambda _: (),
        price=lambda *_: 0.0,
        free={},
    )
    row = placement.chosen if work.whole is not None else placement.chosen.members[0]
    job = make_job(prepared, stack, row, run, joins)
    artifacts = TARGET.render(job, said)
    said.raise_if_errors()
    return {item.path.rpartition("/")[2]: yaml.safe_load(item.text) for item in artifacts}


def group(*tasks: str, header: str = "") -> str:
    return "---\n".join([f"name: g\nexecution: parallel\n{header}", *tasks])


def task(name: str, **fields: object) -> str:
    return yaml.safe_dump({"name": name, "run": "echo", **fields})


def recovers(restarts: int) -> dict:
    return yaml.safe_load(RECOVERS % restarts)


class TestNames:
    @pytest.mark.parametrize("run", [1, 99_999])
    @pytest.mark.parametrize("nodes", [1, 1000])
    def test_the_longest_pods_name_fits_whatever_is_asked_for(self, tmp_path, run, nodes):
        long = "a-rather-long-name-of-a-task-in-a-group"
        text = group(task(long, num_nodes=nodes), task("b"), header="").replace(
            "name: g\n", "name: the-name-of-a-group-that-is-nearly-as-long-as-it-can-be\n"
        )
        jobset = rendered(tmp_path, text, run=run)["jobset.yaml"]
        name = jobset["metadata"]["name"]
        assert name.endswith(f"-{run}")
        for item in jobset["spec"]["replicatedJobs"]:
            ranks = item["template"]["spec"]["completions"]
            assert len(f"{name}-{item['name']}-0-{ranks - 1}-xxxxx") <= names.DNS_LABEL_LIMIT

    def test_short_names_are_left_as_they_are(self):
        assert whole_name("demo", "rl", 3, [("learner", 2), ("actor", 1)]) == "demo-rl-3"
        assert replicated_name("Rollout_Server") == "rollout-server"

    def test_two_groups_with_tasks_of_one_name_have_no_object_in_common(self, tmp_path):
        one = rendered(tmp_path, group(task("a"), task("b")))
        other = rendered(tmp_path, group(task("a"), task("b")).replace("name: g", "name: h"))

        def objects(files):
            return {(body["kind"], body["metadata"]["name"]) for body in files.values()}

        assert not objects(one) & objects(other)


class TestPolicies:
    def test_the_first_failure_ends_a_group_that_does_not_recover(self, tmp_path):
        spec = rendered(tmp_path, group(task("a"), task("b")))["jobset.yaml"]["spec"]
        assert spec["failurePolicy"] == {"maxRestarts": 0}
        assert "successPolicy" not in spec

    def test_one_rank_recovers_by_its_own_job(self, tmp_path):
        text = group(task("a", resources=recovers(4)), task("b"))
        spec = rendered(tmp_path, text)["jobset.yaml"]["spec"]
        first, second = [item["template"]["spec"] for item in spec["replicatedJobs"]]
        assert (first["backoffLimit"], second["backoffLimit"]) == (4, 0)
        assert spec["failurePolicy"] == {"maxRestarts": 0}

    @pytest.mark.parametrize(
        ("more", "action"),
        [("", "RestartJobSet"), (", jobset_gates: [RestartJob]", "RestartJob")],
    )
    def test_several_ranks_recover_by_the_jobset(self, tmp_path, more, action):
        text = group(
            task("a", num_nodes=2, resources=recovers(2)),
            task("b", num_nodes=2, resources=recovers(0)),
            task("c"),
        )
        policy = rendered(tmp_path, text, more=more)["jobset.yaml"]["spec"]["failurePolicy"]
        assert policy["maxRestarts"] == 2
        rules = [(rule["action"], rule.get("targetReplicatedJobs")) for rule in policy["rules"]]
        assert rules == [
            (f"{action}AndIgnoreMaxRestarts", ["a"]),
            (action, ["a"]),
            (f"{action}AndIgnoreMaxRestarts", ["b"]),
            ("FailJobSet", None),
        ]

    def test_primary_tasks_decide_and_the_others_linger(self, tmp_path):
        header = "primary_tasks: [a]\ntermination_delay: {b: 90, c: 0}\n"
        files = rendered(tmp_path, group(task("a"), task("b"), task("c"), header=header))
        spec = files["jobset.yaml"]["spec"]
        assert spec["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["a"]}
        pods = {
            item["name"]: item["template"]["spec"]["template"]["spec"]
            for item in spec["replicatedJobs"]
        }
        graces = {name: pod["terminationGracePeriodSeconds"] for name, pod in pods.items()}
        assert graces == {"a": 60, "b": 150, "c": 60}
        assert "linger.sh" in files["b.scripts.yaml"]["data"]
        assert "linger.sh" not in files["c.scripts.yaml"]["data"]

    def test_a_pipelines_tasks_wait_for_the_one_before(self, tmp_path):
        text = "---\n".join(["name: p\n", task("a"), task("b"), task("c")])
        jobs = rendered(tmp_path, text)["jobset.yaml"]["spec"]["replicatedJobs"]
        assert [item.get("dependsOn") for item in jobs] == [
            None,
            [{"name": "a", "status": "Complete"}],
            [{"name": "b", "status": "Complete"}],
        ]

    def test_a_joined_task_is_in_the_domain_of_the_group(self, tmp_path):
        joins = JoinedGroup("g", 4, (("a", 2), ("b", 1)))
        text = task("late").replace("name: late", "name: g-late")
        files = rendered(tmp_path, text, joins=joins)
        assert set(files) == {"scripts.yaml", "job.yaml"}
        pod = files["job.yaml"]["spec"]["template"]
        assert pod["spec"]["subdomain"] == "demo-g-4"
        assert pod["metadata"]["labels"]["triplane.dev/group"] == "demo-g-4"
        assert files["scripts.yaml"]["data"]["members"].splitlines() == [
            "a-0.g demo-g-4-a-0-0.demo-g-4",
            "a-1.g demo-g-4-a-0-1.demo-g-4",
            "b-0.g demo-g-4-b-0-0.demo-g-4",
            "late-0.g demo-g-late-1-0.demo-g-4",
        ]


def test_hosts_are_made_in_the_image_that_pod_config_gives(tmp_path):
    pod = {"containers": [{"name": "task", "image": "own:1", "imagePullPolicy": "Never"}]}
    config = {"kubernetes": {"pod_config": {"spec": pod}}}
    files = rendered(tmp_path, group(task("a", config=config), task("b")))
    first, second = files["jobset.yaml"]["spec"]["replicatedJobs"]
    [made] = first["template"]["spec"]["template"]["spec"]["initContainers"]
    assert (made["image"], made["imagePullPolicy"]) == ("own:1", "Never")
    [other] = second["template"]["spec"]["template"]["spec"]["initContainers"]
    assert "python" in other["image"]


class Machine:
    """A folder with a `getent` of its own: a file for each name, and one for each address."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.names = folder, folder / "names"
        self.names.mkdir()
        (folder / "bin").mkdir()
        getent = folder / "bin" / "getent"
        getent.write_text(
            "#!/bin/bash\n"
            f'[ "$1" = hosts ] && grep -h " $2\\$" {folder}/hosts && exit 0\n'
            f'[ -s "{self.names}/$2" ] && cat "{self.names}/$2"\n'
        )
        getent.chmod(0o755)
        (folder / "hosts").write_text("127.0.0.1 localhost\n")
        (folder / "state").mkdir()

    def name(self, name: str, *lines: str) -> None:
        (self.names / name).write_text("".join(f"{line}\n" for line in lines))

    def start(self, body: str, members: str, timeout: int = 20) -> subprocess.Popen:
        (self.folder / "members").write_text(members)
        script = data_folder("templates") / "k8s" / "hosts.sh"
        text = (
            "say() { printf 'launcher: %s\\n' \"$*\" >&2; }\n"
            f"FOLDER={self.folder} k8s_state={self.folder}/state k8s_group=g\n"
            "k8s_group_service=demo-g-1 k8s_group_prefix=demo-g\n"
            f"k8s_peer_timeout={timeout}\n. {script}\n"
            f"k8s_hosts={self.folder}/hosts k8s_hosts_every=0.2\n{body}\n"
        )
        return subprocess.Popen(
            ["bash", "-c", text],
            env={"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def hosts(self) -> dict[str, str]:
        lines = (self.folder / "hosts").read_text().splitlines()
        return {line.split()[1]: line.split()[0] for line in lines if line and line[0] != "#"}

    def until(self, name: str, address: str) -> None:
        deadline = time.monotonic() + 20
        while self.hosts().get(name) != address:
            assert time.monotonic() < deadline, self.hosts()
            time.sleep(0.1)


MEMBERS = "a-0.g demo-g-1-a-0-0.demo-g-1\nb-0.g demo-g-1-b-0-0.demo-g-1\n"


def _end(process: subprocess.Popen) -> None:
    """What it left in the background goes with it."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class TestLingering:
    """An auxiliary task stays for its delay after success, and only then."""

    @pytest.fixture
    def script(self, tmp_path: Path) -> str:
        header = "primary_tasks: [a]\ntermination_delay: 3\n"
        files = rendered(tmp_path, group(task("a"), task("b"), header=header))
        assert int(files["a.scripts.yaml"]["data"]["stays"]) > 12
        return files["b.scripts.yaml"]["data"]["linger.sh"]

    def took(self, machine: Machine, script: str) -> float:
        (machine.folder / "linger.sh").write_text(script.replace("settle=12", "settle=1"))
        began = time.monotonic()
        path = {"PATH": f"{machine.folder / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", machine.folder / "linger.sh"], env=path, check=False)
        assert done.returncode == 0
        return time.monotonic() - began

    def test_it_waits_where_the_primary_tasks_are_gone(self, machine, script):
        assert 2.5 < self.took(machine, script) < 15

    def test_it_goes_at_once_where_one_is_still_there(self, machine, script):
        machine.name("demo-g-1-a-0-0.demo-g-1", "10.0.0.1")
        assert self.took(machine, script) < 2.5


def test_a_joined_task_of_several_ranks_recovers_by_a_jobset_of_its_own(tmp_path):
    joins = JoinedGroup("g", 1, (("a", 1),))
    text = task("g-late", num_nodes=2, resources=recovers(1))
    files = rendered(tmp_path, text, joins=joins)
    assert files["jobset.yaml"]["spec"]["failurePolicy"]["maxRestarts"] == 1
    members = files["scripts.yaml"]["data"]["members"]
    assert "late-1.g demo-g-late-1-task-0-1.demo-g-1" in members


class TestHosts:
    def test_names_are_kept_up_to_date_until_the_rank_ends(self, machine):
        machine.name("demo-g-1-a-0-0.demo-g-1", "10.0.0.1 STREAM", "10.0.0.1 DGRAM")
        process = machine.start("k8s_keep_hosts && k8s_await_group && sleep 30", MEMBERS)
        try:
            machine.until("a-0.g", "10.0.0.1")
            assert "b-0.g" not in machine.hosts()
            machine.name("demo-g-1-b-0-0.demo-g-1", "10.0.0.2 STREAM")
            machine.until("b-0.g", "10.0.0.2")
            machine.name("demo-g-1-a-0-0.demo-g-1", "10.0.0.9 STREAM")
            machine.until("a-0.g", "10.0.0.9")
            assert machine.hosts()["localhost"] == "127.0.0.1"
        finally:
            _end(process)

    def test_who_joined_is_found_by_the_groups_service(self, machine):
        machine.name("demo-g-1-a-0-0.demo-g-1", "10.0.0.1 STREAM")
        domain = "demo-g-1.default.svc.cluster.local"
        machine.name("demo-g-1", *(f"10.0.0.{number} STREAM" for number in (1, 6, 7, 8)))
        machine.name("10.0.0.6", f"10.0.0.6 demo-g-wide-3-task-0-1.{domain}")
        machine.name("10.0.0.7", f"10.0.0.7 demo-g-my-eval-12-0.{domain}")
        # a pod of the group whose own name was asked for too early
        machine.name("10.0.0.8", f"10.0.0.8 demo-g-1-b-0-0.{domain}")
        process = machine.start("k8s_keep_hosts; sleep 30", MEMBERS)
        try:
            machine.until("my-eval-0.g", "10.0.0.7")
            names = {"localhost", "a-0.g", "my-eval-0.g", "wide-1.g"}
            assert set(machine.hosts()) == names
        finally:
            _end(process)

    def test_a_task_that_never_comes_is_said_and_not_waited_for(self, machine):
        machine.name("demo-g-1-a-0-0.demo-g-1", "10.0.0.1 STREAM")
        process = machine.start("k8s_keep_hosts && k8s_await_group; kill %1", MEMBERS, timeout=1)
        _, err = process.communicate(timeout=30)
        assert "b-0.g was not there within 1 seconds: going on without it" in err

    def test_an_image_without_getent_is_told_so(self, machine):
        process = machine.start("PATH=/nowhere; k8s_keep_hosts || echo failed", MEMBERS)
        out, err = process.communicate(timeout=30)
        assert out == "failed\n"
        assert "has no getent" in err
