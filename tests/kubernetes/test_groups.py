"""Groups and pipelines on the real node: one JobSet, whose tasks find each other by name."""

from __future__ import annotations

import subprocess
import time

import pytest

from compiler.planning.states import RunState
from tests.kubernetes.project import Maker, Project

pytestmark = pytest.mark.kubernetes

_JOBSET = "jobset.x-k8s.io/v1alpha2"
# Nobody here is root, and the group has two tasks that reach each other by name. The learner
# waits for a task that joins later; the server would go on for ever.
GROUP = """\
name: rl
execution: parallel
primary_tasks: [learner]
termination_delay: 4s
---
name: learner
num_nodes: 2
resources: {cpus: 1, memory: 1}
config:
  kubernetes:
    pod_config:
      spec:
        securityContext: {runAsUser: 1000, runAsGroup: 1000}
        containers: [{name: task, env: [{name: HOME, value: /tmp}]}]
run: |
  for name in learner-0.rl learner-1.rl server-0.rl; do
      echo "found $(getent hosts $name)"
  done
  until getent hosts eval-0.rl >/dev/null; do sleep 1; done
  echo "joined $(getent hosts eval-0.rl)"
  sleep 12
---
name: server
resources: {cpus: 1, memory: 1}
run: |
  trap 'echo ended after $((SECONDS - SINCE)) seconds; exit 0' TERM
  echo "serves $SKYPILOT_JOBGROUP_NAME"
  SINCE=$SECONDS
  while :; do
      getent hosts lasting >/dev/null || true
      sleep 1
  done
"""
EVAL = """\
name: eval
resources: {cpus: 1, memory: 1}
run: |
  echo "sees $(getent hosts server-0.rl)"
  sleep 8
  exit 3
"""
PIPELINE = """\
name: steps
---
name: first
resources: {cpus: 1, memory: 1}
run: sleep 3; date +first-%s
---
name: second
num_nodes: 2
resources: {cpus: 1, memory: 1}
run: date +second-%s
"""


# The folder /mark lies on the node: a line each time that a rank starts, with its address.
RECOVERS = """\
name: duo
execution: parallel
---
name: frail
num_nodes: 2
resources:
  cpus: 1
  memory: 1
  job_recovery: {strategy: FAILOVER, recover_on_exit_codes: [33]}
config:
  kubernetes:
    pod_config:
      spec:
        containers: [{name: task, volumeMounts: [{name: mark, mountPath: /mark}]}]
        volumes: [{name: mark, hostPath: {path: MARK}}]
run: |
  echo "$TRIPLANE_POD_IP" >>"/mark/frail-$SKYPILOT_NODE_RANK"
  if [ "$(wc -l <"/mark/frail-$SKYPILOT_NODE_RANK")" = 1 ]; then
      [ "$SKYPILOT_NODE_RANK" = 1 ] || sleep 600
      sleep 2
      exit 33
  fi
  sleep 15
---
name: steady
resources: {cpus: 1, memory: 1}
config:
  kubernetes:
    pod_config:
      spec:
        containers: [{name: task, volumeMounts: [{name: mark, mountPath: /mark}]}]
        volumes: [{name: mark, hostPath: {path: MARK}}]
run: |
  echo started >>/mark/steady
  until [ "$(wc -l </mark/frail-0)" = 2 ]; do sleep 1; done
  until [ "$(getent hosts frail-0.duo | cut -d' ' -f1)" = "$(tail -n 1 /mark/frail-0)" ]; do
      sleep 1
  done
  echo "now $(getent hosts frail-0.duo)"
"""


@pytest.fixture
def project(new_project: Maker) -> Project:
    roles = ("plan", "apply", "exec")
    return new_project(real=True, target={"jobset": "0.12"}, roles=roles)


def _write(project: Project, name: str, text: str) -> None:
    path = project.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def _logs(project: Project, work: str) -> list[str]:
    done = project.triplane("logs", work, "--no-follow")
    assert done.code == 0, done.text
    return done.out.splitlines()


def _who_is_entered(project: Project) -> None:
    """Ranks are counted through the tasks, or are those of the task that is named."""
    ask = ("--", "bash", "-c", 'echo "$SKYPILOT_NODE_RANK $HOSTNAME"')
    begin = f"{project.name}-rl-1"
    for words, rank, host in (
        ((), 0, "learner-0-0"),
        (("--rank", "1"), 1, "learner-0-1"),
        (("--rank", "2"), 0, "server-0-0"),
        (("--task", "server"), 0, "server-0-0"),
        (("--task", "learner", "--rank", "1"), 1, "learner-0-1"),
    ):
        deadline = time.monotonic() + 120
        while (done := _exec(project, "rl", *words, *ask)).returncode == 1:
            assert time.monotonic() < deadline, done.stderr  # it has not begun yet
            time.sleep(1)
        assert done.stdout == f"{rank} {begin}-{host}\n", done.stderr
    assert "not 3" in _exec(project, "rl", "--rank", "3", *ask).stderr
    assert "its tasks are learner, server" in _exec(project, "rl", "--task", "x", *ask).stderr


def _exec(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    process = project.start("exec", *words)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess((), process.returncode, out, err)


def test_tasks_of_a_group_and_one_that_joins_find_each_other(project: Project):
    _write(project, "tasks/rl.yaml", GROUP)
    _write(project, "more/eval.yaml", EVAL)
    project.apply()
    project.until("rl", RunState.RUNNING, seconds=150)
    _who_is_entered(project)
    project.apply("more/eval.yaml", "--group", "rl")
    failed = project.until("rl-eval", seconds=120)
    # What joined fails by itself and takes nobody with it.
    assert (failed.state, failed.exit_code) == (RunState.FAILED, 3)
    assert project.until("rl", seconds=150).state is RunState.SUCCEEDED
    said = _logs(project, "rl")
    addresses = {}
    for line in said:
        if "found " in line:
            address, name = line.partition("found ")[2].split()[:2]
            addresses.setdefault(name, set()).add(address)
    assert set(addresses) == {"learner-0.rl", "learner-1.rl", "server-0.rl"}
    assert all(len(found) == 1 for found in addresses.values())
    assert len([line for line in said if "joined " in line and "eval-0.rl" in line]) == 2
    [sees] = [line for line in _logs(project, "rl-eval") if "sees " in line]
    assert sees.split("sees ")[1].split()[0] in addresses["server-0.rl"]


def test_a_pipeline_runs_its_tasks_one_after_the_other(project: Project):
    _write(project, "tasks/steps.yaml", PIPELINE)
    project.apply()
    assert project.until("steps", seconds=200).state is RunState.SUCCEEDED
    words = [line.split()[-1] for line in _logs(project, "steps")]
    times = {
        name: [int(word[len(name) + 1 :]) for word in words if word.startswith(name)]
        for name in ("first", "second")
    }
    assert len(times["first"]) == 1
    assert len(times["second"]) == 2
    assert max(times["first"]) <= min(times["second"])
    jobset = project.api.get(_JOBSET, "JobSet", f"{project.name}-steps-1", project.namespace)
    assert [job["name"] for job in jobset["spec"]["replicatedJobs"]] == ["first", "second"]


def test_a_task_recovers_alone_and_keeps_its_name(new_project: Maker):
    project = new_project(real=True, target={"jobset": "0.12", "jobset_gates": ["RestartJob"]})
    mark = project.folder / "mark"
    mark.mkdir()
    _write(project, "tasks/duo.yaml", RECOVERS.replace("MARK", str(mark)))
    project.apply()
    found = project.until("duo", seconds=200)
    assert (found.state, found.detail) == (RunState.SUCCEEDED, "after 1 restart")
    # Both ranks of the one ran twice, the other task ran once and found it again.
    assert [len((mark / f"frail-{rank}").read_text().split()) for rank in range(2)] == [2, 2]
    starts = (mark / "steady").read_text().split()
    assert len(starts) == 1
    again = (mark / "frail-0").read_text().split()[-1]
    assert f"now {again} " in "\n".join(_logs(project, "duo"))


def test_cancelling_a_group_ends_what_joined_it(project: Project):
    waits = "name: {}\nresources: {{cpus: 1, memory: 1}}\nrun: sleep 600\n"
    tasks = [waits.format(name) for name in ("a", "b")]
    header = "name: pair\nexecution: parallel\n"
    _write(project, "tasks/pair.yaml", "---\n".join([header, *tasks]))
    _write(project, "more/late.yaml", waits.format("late"))
    project.apply()
    project.until("pair", RunState.RUNNING, seconds=150)
    project.apply("more/late.yaml", "--group", "pair")
    project.until("pair-late", RunState.RUNNING, seconds=120)
    done = project.triplane("cancel", "pair")
    assert done.code == 0, done.text
    assert "pair-late run 1 on prod cancelled" in done.text
    for work in ("pair", "pair-late"):
        assert project.until(work, seconds=90).state is RunState.CANCELLED
    label = f"triplane.dev/set={project.name}"
    deadline = time.monotonic() + 90
    while project.api.items("v1", "Pod", project.namespace, label):
        assert time.monotonic() < deadline
        time.sleep(1)
