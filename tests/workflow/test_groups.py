"""Groups and pipelines are one work each: one run, one record, one outcome."""

from __future__ import annotations

import pytest

from tests.workflow.project import TARGETS, Project

GROUP = """\
name: rl
execution: parallel
primary_tasks: [learner]
---
name: learner
num_nodes: 2
resources: {{infra: kubernetes/eks, cpus: {cpus}}}
secrets: {{TOKEN: null}}
workdir: code
run: echo learn
---
name: actor
resources: {{infra: kubernetes/eks}}
secrets: {{TOKEN: null}}
run: echo act
"""
PIPELINE = """\
name: nightly
---
name: prepare
resources: {infra: kubernetes/eks}
run: echo prepare
---
resources: {infra: kubernetes/eks}
run: echo train
"""
FOLDER = "kubernetes/eks/demo-rl-1"
RECORD = "demo/eks/rl.1"


@pytest.fixture
def grouped(project: Project) -> Project:
    """A set whose cluster has JobSet, with one group that brings files along."""
    project.stack("eks", targets={"eks": {**TARGETS["eks"], "jobset": "0.12"}})
    project.write("code/learn.py", "print(1)\n")
    project.write("tasks/rl.yaml", GROUP.format(cpus=2))
    return project


def test_a_group_is_applied_as_one_work_and_is_then_up_to_date(grouped):
    done = grouped.applied()
    assert done.out.endswith("kubernetes/eks/rl run 1: created\n")
    assert f"{FOLDER}/jobset.yaml" in grouped.files()
    assert f"{FOLDER}/learner.files.yaml" in grouped.files()
    [(key, record)] = grouped.records().items()
    assert key == RECORD
    assert record["members"] == [["learner", 2], ["actor", 1]]
    assert "lifecycle" not in record
    assert "Nothing to do." in grouped.applied().out


def test_a_changed_task_is_named_with_its_place_and_updates_the_whole(grouped):
    grouped.applied()
    grouped.write("tasks/rl.yaml", GROUP.format(cpus=4))
    [work] = grouped.plan_json()["works"]
    assert (work["work"], work["action"], work["run"]) == ("rl", "update", 1)
    assert work["because"] == [
        {"field": "learner.resources.cpus", "location": "tasks/rl.yaml:7:36"}
    ]
    grouped.applied()
    assert 'cpu: "4"' in grouped.files()[f"{FOLDER}/jobset.yaml"]


def test_other_primary_tasks_and_one_task_less_are_changes_of_the_group(grouped):
    grouped.applied()
    text = GROUP.format(cpus=2)
    grouped.write("tasks/rl.yaml", text.replace("[learner]", "[actor]"))
    [work] = grouped.plan_json()["works"]
    assert work["because"] == [{"field": "primary_tasks", "location": "tasks/rl.yaml:3:1"}]
    grouped.write(
        "tasks/rl.yaml", text.replace("primary_tasks: [learner]\n", "").rpartition("---")[0]
    )
    [work] = grouped.plan_json()["works"]
    fields = [item["field"] for item in work["because"]]
    assert "tasks" in fields
    assert "actor.run" in fields


def test_changed_files_alone_are_a_note_about_the_group(grouped):
    grouped.applied()
    grouped.write("code/learn.py", "print(2)\n")
    [work] = grouped.plan_json()["works"]
    assert work["action"] == "no-op"
    assert "its files changed" in work["note"]


def test_a_group_that_is_gone_from_the_set_goes_whole(grouped):
    grouped.task("other", resources={"infra": "kubernetes/eks"})
    grouped.applied()
    (grouped.folder / "tasks/rl.yaml").unlink()
    [other, gone] = grouped.plan_json()["works"]
    assert (other["action"], gone["work"], gone["action"]) == ("no-op", "rl", "delete")
    grouped.applied()
    assert not [path for path in grouped.files() if "demo-rl" in path]


def test_a_saved_plan_of_a_group_holds_every_byte(grouped):
    assert grouped.plan("--out", "plan.json").code == 0
    assert grouped.run("apply", "plan.json", "--quiet").code == 0
    assert f"{FOLDER}/jobset.yaml" in grouped.files()
    grouped.write("code/learn.py", "print(3)\n")
    assert grouped.plan("--out", "plan.json").code == 0
    grouped.write("code/learn.py", "print(4)\n")
    assert grouped.run("apply", "plan.json", "--quiet").code == 4


def test_a_group_is_diffed_against_a_folder_and_destroyed(grouped):
    grouped.applied()
    words = ("diff", "--stack", "stack.yaml", "--against", "out")
    assert grouped.run(*words).out == "no differences\n"
    grouped.write("tasks/rl.yaml", GROUP.format(cpus=4))
    done = grouped.run(*words)
    assert f"{FOLDER}/jobset.yaml" in done.out
    assert "learner.scripts" not in done.out
    gone = grouped.run("destroy", "rl", "--stack", "stack.yaml", "--auto-approve")
    assert gone.code == 0
    assert grouped.files() == {}


def test_a_pipeline_is_one_work_named_after_its_header(project):
    project.stack("eks", targets={"eks": {**TARGETS["eks"], "jobset": "0.12"}})
    project.write("tasks/nightly.yaml", PIPELINE)
    assert project.applied().out.endswith("kubernetes/eks/nightly run 1: created\n")
    record = project.records()["demo/eks/nightly.1"]
    assert record["members"] == [["prepare", 1], ["1", 1]]
    documents = PIPELINE.partition("---\n")[0], *PIPELINE.split("---\n")[:0:-1]
    project.write("tasks/nightly.yaml", "---\n".join(documents))
    [work] = project.plan_json()["works"]
    assert "order" in [item["field"] for item in work["because"]]


def test_every_target_has_its_own_run_of_a_group(project):
    clusters = {key: {**TARGETS["eks"], "context": key, "jobset": "0.12"} for key in ("one", "two")}
    project.stack("eks", targets=clusters)
    project.write(
        "tasks/pair.yaml",
        "name: pair\nexecution: parallel\n---\nname: a\nrun: echo\n---\nname: b\nrun: echo\n",
    )
    done = project.applied("--every-target")
    assert done.out.endswith(
        "kubernetes/one/pair run 1: created\nkubernetes/two/pair run 1: created\n"
    )
    rendered = project.run("render", "--stack", "stack.yaml", "--out", "tree", "--every-target")
    assert rendered.code == 0
    assert project.files("tree") == project.files()


def test_a_name_from_the_command_line_is_the_groups(grouped):
    done = grouped.run(
        "render", "tasks/rl.yaml", "--stack", "stack.yaml", "--out", "tree", "--name", "other"
    )
    assert done.code == 0, done.text
    assert "kubernetes/eks/demo-other-1/actor.scripts.yaml" in grouped.files("tree")


def test_the_candidate_table_has_what_all_tasks_ask_for(project):
    project.stack("eks", targets={"eks": {**TARGETS["eks"], "jobset": "0.12"}})
    project.write(
        "tasks/pair.yaml",
        "name: pair\nexecution: parallel\n---\nname: a\nresources: {accelerators: H100:8}\n"
        "run: echo\n---\nname: b\nresources: {accelerators: L4:1}\nrun: echo\n",
    )
    [work] = project.plan_json()["works"]
    [row] = work["placement"]
    assert row["resources"] == "H100:8, L4:1"


def test_names_are_unique_over_all_kinds_of_work(grouped):
    grouped.write("tasks/a.yaml", "name: rl\nrun: echo\n")
    done = grouped.plan()
    assert done.code == 1
    assert "a job group and a task are both called `rl`" in done.err
    assert "tasks/a.yaml:1:7" in done.err


def test_a_tasks_objects_are_no_other_works(grouped):
    grouped.write("tasks/other.yaml", "name: rl-actor\nrun: echo\n")
    done = grouped.plan()
    assert done.code == 1
    assert "objects of `rl-actor` and `rl-actor` would both be called `demo-rl-actor`" in done.err


class TestJoining:
    """`--group`: a task becomes a work of its own, tied to a run of the group."""

    @pytest.fixture
    def running(self, grouped: Project) -> Project:
        grouped.applied()
        grouped.task("eval", folder="more")
        return grouped

    def test_it_is_named_after_the_group_and_goes_where_that_is(self, running):
        done = running.applied("more/eval.yaml", "--group", "rl")
        assert done.out.endswith("kubernetes/eks/rl-eval run 1: created\n")
        record = running.records()["demo/eks/rl-eval.1"]
        assert (record["joins"], record["ad_hoc"]) == ("rl.1", True)
        scripts = running.files()["kubernetes/eks/demo-rl-eval-1/scripts.yaml"]
        assert "learner-1.rl demo-rl-1-learner-0-1.demo-rl-1" in scripts
        assert "eval-0.rl demo-rl-eval-1-0.demo-rl-1" in scripts
        assert "SKYPILOT_JOBGROUP_NAME='rl'" in scripts

    def test_the_set_leaves_it_alone_and_the_same_again_is_nothing_to_do(self, running):
        running.applied("more/eval.yaml", "--group", "rl")
        assert "Nothing to do." in running.applied().out
        assert "Nothing to do." in running.applied("more/eval.yaml", "--group", "rl").out

    def test_a_run_of_it_joins_too(self, running):
        done = running.run("run", "more/eval.yaml", "--stack", "stack.yaml", "--group", "rl", "-q")
        assert done.code == 0, done.text
        assert running.records()["demo/eks/rl-eval.1"]["extra"] is True

    def test_it_ends_with_the_group(self, running):
        running.applied("more/eval.yaml", "--group", "rl")
        done = running.run("destroy", "rl", "--stack", "stack.yaml", "--auto-approve", "-q")
        assert done.code == 0, done.text
        assert "kubernetes/eks/rl-eval run 1: deleted" in done.out
        assert running.files() == {}

    def test_a_saved_plan_joins_as_well(self, running):
        assert running.plan("more/eval.yaml", "--group", "rl", "--out", "plan.json").code == 0
        assert running.run("apply", "plan.json", "--quiet").code == 0
        assert "demo/eks/rl-eval.1" in running.records()

    def test_a_saved_plan_joins_no_group_that_has_ended(self, running):
        assert running.plan("more/eval.yaml", "--group", "rl", "--out", "plan.json").code == 0
        running.run("destroy", "rl", "--stack", "stack.yaml", "--auto-approve", "-q")
        done = running.run("apply", "plan.json", "--quiet")
        assert done.code == 4
        assert "the group that it joins, rl.1, has ended" in done.err

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("more/eval.yaml", "--group", "rlx"), "no group `rlx` is recorded"),
            (("tasks/rl.yaml", "--group", "rl"), "a job group (`rl`) cannot join a group"),
            (("--group", "rl"), "name the file of the task that joins"),
        ],
    )
    def test_what_cannot_join_is_wrong_usage(self, running, words, said):
        done = running.plan(*words)
        assert done.code == 64
        assert said in done.err
