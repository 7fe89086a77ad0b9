"""Looking without writing: `plan --read-only` asks by get and list alone."""

from __future__ import annotations

import pytest
import yaml

from compiler.planning.outcomes import Action
from tests.kubernetes.project import RBAC, V1, Maker, Project

pytestmark = pytest.mark.kubernetes


def test_the_plan_role_allows_get_and_list_alone():
    rules = yaml.safe_load((RBAC / "plan.yaml").read_text())["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} <= {"get", "list"}


def test_nothing_is_asked_that_could_write(new_project: Maker):
    project = new_project(roles=("plan", "apply"))
    project.task("done")
    project.task("drifts", config={"kubernetes": {"pod_config": _NOWHERE}})
    project.apply()
    # asked of the server itself: a status would write down what has ended
    project.api.until("one ends", lambda: _has_ended(project))
    project.api.until("one waits", lambda: project.pods("drifts"))
    project.api.delete(V1, "Service", f"{project.name}-drifts-1", project.namespace)
    project.task("new")
    reader = _reader(project)
    shown = reader.triplane("plan", "--read-only")
    assert shown.code == 0, shown.text
    assert "not compared by the server (--read-only)" in shown.out
    assert "forbidden" not in shown.text
    changes = reader.plan(read_only=True)
    assert {name: change.action for name, change in changes.items()} == {
        "done": Action.DONE,
        "drifts": Action.UPDATE,
        "new": Action.CREATE,
    }
    assert "service.yaml is gone" in changes["drifts"].reason
    # even one who may write things down does not
    assert project.triplane("plan", "--read-only").code == 0
    assert project.record("done")["stage"] == "created"
    assert project.triplane("plan").code == 0
    assert project.record("done")["stage"] == "ended"


_NOWHERE = {"spec": {"nodeSelector": {"none": "such"}}}


def _has_ended(project: Project) -> bool:
    conditions = project.job("done")["status"].get("conditions") or ()
    return any(item["type"] == "Complete" for item in conditions)


def _reader(project: Project) -> Project:
    """The same set, seen by a user with the plan role alone."""
    folder = project.folder / "reader"
    reader = Project(project.site, folder, "reader", namespace=project.namespace, roles=("plan",))
    reader.name = project.name
    for path in (project.folder / "tasks").iterdir():
        (folder / "tasks" / path.name).write_text(path.read_text())
    reader.write_stack()
    return reader
