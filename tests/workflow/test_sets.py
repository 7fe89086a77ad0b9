"""What one apply owns: pruning, filters, ad hoc work, several sets in one folder, removal."""

import json

import pytest

from tests.workflow.project import actions


@pytest.fixture
def applied(project):
    """Three works of a set, written."""
    project.stack("eks", "alpha")
    project.task("a")
    project.task("b", resources={"infra": "k8s"})
    project.task("c", resources={"infra": "slurm"})
    project.applied()
    return project


def remove(project, *names):
    for name in names:
        (project.folder / f"tasks/{name}.yaml").unlink()


def test_only_the_whole_set_is_pruned(applied):
    remove(applied, "b", "c")
    for words in (("tasks/a.yaml",), ("tasks/",), ("--work", "a"), ("--target", "eks")):
        plan = applied.plan_json(*words)
        assert "delete" not in actions(plan).values(), words
        assert plan["scope"] == "paths", words
    plan = applied.plan_json()
    assert plan["scope"] == "set"
    assert actions(plan) == {"a@eks": "no-op", "b@eks": "delete", "c@alpha": "delete"}
    done = applied.applied()
    assert "kubernetes/eks/b run 1: deleted" in done.out
    assert {path.split("/")[2] for path in applied.files()} == {"demo-a-1"}
    assert list(applied.records()) == ["demo/eks/a.1"]


def test_filters_restrict_what_is_planned(applied):
    for name in ("a", "b", "c"):
        applied.task(name, resources={"cpus": 7, "infra": "slurm" if name == "c" else "k8s"})
    assert actions(applied.plan_json("--work", "a", "--work", "c")) == {
        "a@eks": "update",
        "c@alpha": "update",
    }
    assert actions(applied.plan_json("tasks/b.yaml")) == {"b@eks": "update"}
    applied.applied("--work", "b")
    assert actions(applied.plan_json()) == {
        "a@eks": "update",
        "b@eks": "no-op",
        "c@alpha": "update",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--work", "aa"), "no input holds a task `aa`; did you mean `a`?"),
        (("--work", "zzzz"), "no input holds a task `zzzz`"),
        (("--target", "alhpa"), "stack `stack` has no target `alhpa`; did you mean `alpha`?"),
        (("--target", "zzzz"), "it has eks, alpha"),
    ],
)
def test_a_filter_for_what_is_not_there_is_wrong_usage(applied, words, said):
    for command in ("plan", "apply"):
        done = applied.run(command, "--stack", "stack.yaml", *words)
        assert done.code == 64
        assert said in done.err


def test_a_target_that_is_filtered_out_is_neither_touched_nor_missing(applied):
    applied.task("c", resources={"cpus": 7, "infra": "slurm"})
    done = applied.plan("--target", "eks", "--detailed-exitcode")
    assert done.code == 0
    assert "note[left-out]: `c` may go to alpha, and not to eks: left out" in done.err
    assert " c " not in done.out
    rendered = applied.run("render", "--stack", "stack.yaml", "--target", "eks", "--out", "r")
    assert rendered.code == 0
    assert {path.split("/")[1] for path in applied.files("r")} == {"eks"}
    applied.task("c", resources={"cpus": 7})
    done = applied.plan("--target", "eks", "--format", "json")
    assert done.code == 0
    plan = done.json
    assert actions(plan) == {"a@eks": "no-op", "b@eks": "no-op", "c@alpha": "no-op"}
    reasons = {work["work"]: work["reason"] for work in plan["works"]}
    assert reasons["c"] == "is on alpha, which --target leaves out"
    assert plan["complete"] is False
    assert [target["skipped"] for target in plan["targets"] if not target["asked"]] == ["filter"]
    moved = applied.plan_json("--target", "eks", "--move")
    assert actions(moved)["c@alpha"] == "no-op"


def test_a_new_work_goes_where_the_filter_says(project):
    project.stack("eks", "alpha")
    project.task("a")
    assert actions(project.plan_json("--target", "alpha")) == {"a@alpha": "create"}
    project.applied("--target", "alpha")
    assert actions(project.plan_json()) == {"a@alpha": "no-op"}


def test_an_empty_set_deletes_nothing_by_itself(applied):
    remove(applied, "a", "b", "c")
    before = applied.tree()
    done = applied.apply()
    assert done.code == 1
    assert "the input folder `tasks` holds no" in done.err
    assert "--allow-empty" in done.err
    assert applied.tree() == before
    assert "3 to delete" not in done.out
    gone = applied.applied("--allow-empty")
    assert gone.out.count("deleted") == 3
    assert applied.files() == {}


def test_a_set_without_inputs_is_empty_too(applied):
    applied.stack("eks", "alpha", set={"name": "demo"})
    done = applied.plan()
    assert done.code == 1
    assert "empty-set" in done.err
    assert "--allow-empty" in done.err
    assert actions(applied.plan_json("--allow-empty")) == {
        "a@eks": "delete",
        "b@eks": "delete",
        "c@alpha": "delete",
    }


def test_one_empty_folder_of_two_is_not_taken_for_a_wish(applied):
    (applied.folder / "more").mkdir()
    applied.stack("eks", "alpha", set={"name": "demo", "inputs": ["tasks/", "more/"]})
    assert applied.plan().code == 1
    assert set(actions(applied.plan_json("--allow-empty")).values()) == {"no-op"}


def test_work_from_outside_the_inputs_is_never_pruned(applied):
    applied.task("extra", folder="elsewhere")
    applied.applied("elsewhere/extra.yaml")
    applied.applied("tasks/a.yaml", "--name", "renamed")
    piped = applied.run(
        *("apply", "-", "--stack", "stack.yaml", "--auto-approve"),
        piped="name: piped\nresources: {cpus: 1}\nrun: echo piped\n",
    )
    assert piped.code == 0, piped.text
    ad_hoc = {record["work"] for record in applied.records().values() if record["ad_hoc"]}
    assert ad_hoc == {"extra", "renamed", "piped"}
    assert actions(applied.plan_json()) == {
        "a@eks": "no-op",
        "b@eks": "no-op",
        "c@alpha": "no-op",
    }
    # They go when they are asked to.
    done = applied.run("destroy", "extra", "--stack", "stack.yaml", "--auto-approve")
    assert done.code == 0, done.text
    assert "kubernetes/eks/extra run 1: deleted" in done.out


def test_an_extra_run_is_neither_replaced_nor_pruned(applied):
    done = applied.run("run", "tasks/a.yaml", "--stack", "stack.yaml", "--num-jobs", "2", "-q")
    assert done.code == 0, done.text
    assert "kubernetes/eks/a run 2: created" in done.out
    assert "kubernetes/eks/a run 3: created" in done.out
    texts = applied.files()
    assert "SKYPILOT_JOB_RANK='0'" in texts["kubernetes/eks/demo-a-2/scripts.yaml"]
    assert "SKYPILOT_JOB_RANK='1'" in texts["kubernetes/eks/demo-a-3/scripts.yaml"]
    applied.task("a", num_nodes=2)
    assert "kubernetes/eks/a run 1: updated" in applied.applied().out
    remove(applied, "a")
    assert "kubernetes/eks/a run 1: deleted" in applied.applied().out
    assert {path.split("/")[2] for path in applied.files() if "-a-" in path} == {
        "demo-a-2",
        "demo-a-3",
    }


def test_a_run_is_added_where_nothing_was_applied(project):
    project.stack("us-east-1")
    project.task("a")
    done = project.run("run", "tasks/a.yaml", "--stack", "stack.yaml", "-q")
    assert done.code == 0, done.text
    # The program that the run belongs to comes with it.
    assert "aws/us-east-1/Pulumi.yaml" in project.files()
    assert project.plan_json()["works"][0]["work"] == "_project"
    again = project.run("run", "tasks/a.yaml", "--stack", "stack.yaml", "-q")
    assert "aws/us-east-1/a run 2: created" in again.out
    assert "_project" not in again.out


def test_two_sets_in_one_folder_never_touch_each_other(applied):
    applied.stack("eks", "alpha", name="other.yaml", set={"name": "other", "inputs": ["more/"]})
    applied.task("a", folder="more")
    ours = applied.files()
    done = applied.run("apply", "--stack", "other.yaml", "--auto-approve", "-q")
    assert done.code == 0, done.text
    theirs = {path: text for path, text in applied.files().items() if path not in ours}
    assert {path.split("/")[2] for path in theirs} == {"other-a-1"}
    assert applied.plan("--detailed-exitcode").code == 0
    done = applied.run("destroy", "--stack", "other.yaml", "--auto-approve", "-q")
    assert done.code == 0, done.text
    assert applied.files() == ours
    assert applied.plan("--detailed-exitcode").code == 0


def test_sets_whose_names_meet_do_not_share_a_file(project):
    """`demo-x` + `y` and `demo` + `x-y` both make `demo-x-y-1`."""
    project.stack("alpha", set={"name": "demo", "inputs": ["tasks/"]})
    project.task("x-y")
    project.applied()
    before = project.tree()
    project.stack("alpha", name="other.yaml", set={"name": "demo-x", "inputs": ["more/"]})
    project.task("y", folder="more")
    done = project.run("apply", "--stack", "other.yaml", "--auto-approve", "-q")
    assert done.code == 1
    assert "belongs to work 'x-y' of set 'demo' on alpha" in done.err
    assert project.tree() == before


def test_a_renamed_set_owns_nothing_of_the_old_one(applied):
    ours = applied.files()
    applied.stack("eks", "alpha", set={"name": "renamed", "inputs": ["tasks/"]})
    assert set(actions(applied.plan_json()).values()) == {"create"}
    applied.applied()
    for path, text in ours.items():
        assert applied.files()[path] == text
    assert {path.split("/")[2] for path in set(applied.files()) - set(ours)} == {
        "renamed-a-1",
        "renamed-b-1",
        "renamed-c-1",
    }


def test_a_renamed_set_does_not_take_over_a_shared_program(project):
    project.stack("us-east-1")
    project.task("a")
    project.applied()
    before = project.tree()
    project.stack("us-east-1", set={"name": "renamed", "inputs": ["tasks/"]})
    done = project.apply()
    assert done.code == 1
    assert "belongs to work '_project' of set 'demo' on us-east-1" in done.err
    after = project.tree()
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize("text", ["somebody else's\n", "\xff"])
def test_a_foreign_file_at_our_path_is_refused(project, text):
    project.stack("eks")
    project.task("a")
    project.task("b")
    assert project.plan("--out", "plan.json").code == 0
    place = project.write("out/kubernetes/eks/demo-a-1/job.yaml", text)
    said = f"{place} exists and does not belong to set 'demo'"
    for done in (project.plan(), project.apply()):
        assert done.code == 1
        assert "error[path-taken]" in done.err
        assert said in done.err
    assert project.records() == {}
    # A plan from before does what it can, and says what it could not.
    done = project.run("apply", "plan.json")
    assert done.code == 1
    assert f"failed: kubernetes/eks/a: {said}" in done.err
    assert place.read_bytes() == text.encode()
    assert list(project.records()) == ["demo/eks/b.1"]


def test_a_folder_at_our_path_is_refused(project):
    project.stack("eks")
    project.task("a")
    (project.folder / "out/kubernetes/eks/demo-a-1/job.yaml").mkdir(parents=True)
    done = project.apply()
    assert done.code == 1
    assert "job.yaml is a folder" in done.err
    (project.folder / "blocked").write_text("a file")
    project.stack("eks", out="blocked")
    for command in ("plan", "apply"):
        done = project.run(command, "--stack", "stack.yaml")
        assert done.code == 1, done.text
        assert "`blocked` is a file, and no folder" in done.err
    assert project.run("check", "--stack", "stack.yaml").code == 3


def test_a_file_that_was_rendered_there_before_is_adopted(project):
    project.stack("eks")
    project.task("a")
    assert project.run("render", "--stack", "stack.yaml", "--out", "out").code == 0
    project.applied()
    assert project.plan("--detailed-exitcode").code == 0


@pytest.mark.parametrize(
    ("first", "second"), [("train", "train"), ("Train", "train"), ("a.b", "a-b")]
)
def test_two_names_that_meet_are_an_error(project, first, second):
    project.stack("eks")
    project.task(first)
    project.write("tasks/second.yaml", f"name: {second}\nresources: {{cpus: 1}}\nrun: echo\n")
    done = project.plan()
    assert done.code == 1
    assert "work-name-collision" in done.err
    assert "the first one" in done.err


def test_a_renamed_work_that_keeps_its_label_is_not_mixed_up(project):
    project.stack("eks")
    project.task("Train")
    project.applied()
    remove(project, "Train")
    project.write("tasks/train.yaml", "name: train\nresources: {cpus: 9}\nrun: echo\n")
    refused = project.apply("tasks/train.yaml")
    assert refused.code == 1
    assert "belongs to work 'Train' of set 'demo'" in refused.err
    done = project.applied()
    assert "kubernetes/eks/Train run 1: deleted" in done.out
    assert list(project.records()) == ["demo/eks/train.1"]
    assert 'cpu: "9"' in project.files()["kubernetes/eks/demo-train-1/job.yaml"]


def test_a_set_called_files_and_a_very_long_name_find_their_records(project):
    project.stack("alpha", root=".", set={"name": "files", "inputs": ["tasks/"]})
    project.write("src/settings.json", "{}")
    project.write(
        "tasks/t.yaml",
        f"name: {'t' * 300}\nresources: {{cpus: 1}}\nworkdir: src\nrun: echo\n",
    )
    project.applied()
    done = project.plan("--detailed-exitcode")
    assert (done.code, done.err) == (0, "")
    state = sorted((project.folder / "out/.triplane/files").iterdir())
    assert len(state) == 2  # the work folder by its digest, and the target's records
    [path] = (project.folder / "out/.triplane/files/alpha").iterdir()
    assert json.loads(path.read_text())["work"] == "t" * 300
    assert len(path.name) < 255


def test_destroy_shows_its_plan_and_removes_what_was_named(applied):
    done = applied.run("destroy", "b", "--stack", "stack.yaml")
    assert done.code == 64  # nobody to ask
    assert "b on eks: delete run 1" in done.out
    assert "nobody is here to approve" in done.err
    done = applied.run("destroy", "b", "--stack", "stack.yaml", "--auto-approve", "-q")
    assert done.code == 0
    assert sorted(applied.records()) == ["demo/alpha/c.1", "demo/eks/a.1"]
    assert not any("demo-b-1" in path for path in applied.files())
    unknown = applied.run("destroy", "aa", "--stack", "stack.yaml", "--auto-approve")
    assert unknown.code == 64
    assert "did you mean `a`?" in unknown.err
    done = applied.run(
        "destroy", "--stack", "stack.yaml", "--auto-approve", "-q", "--format", "json"
    )
    assert done.code == 0
    assert [item["work"] for item in done.json["results"]] == ["a", "c"]
    assert applied.files() == {}
    again = applied.run("destroy", "--stack", "stack.yaml", "--auto-approve", "-q")
    assert (again.code, again.out.splitlines()[-1]) == (0, "Nothing to do.")


def test_destroy_keeps_to_its_target(applied):
    done = applied.run(
        "destroy", "--target", "alpha", "--stack", "stack.yaml", "--auto-approve", "-q"
    )
    assert done.code == 0, done.text
    assert sorted(applied.records()) == ["demo/eks/a.1", "demo/eks/b.1"]
    assert applied.run("destroy", "--target", "x", "--stack", "stack.yaml").code == 64


def test_shared_files_stay_as_long_as_any_work_does(project):
    project.stack("us-east-1")
    project.task("a")
    project.task("b")
    project.applied()
    assert "aws/us-east-1/Pulumi.yaml" in project.files()
    remove(project, "a")
    done = project.applied()
    assert "_project" not in done.out
    assert "aws/us-east-1/Pulumi.yaml" in project.files()
    assert not any("demo-a-1" in path for path in project.files())
    done = project.run("destroy", "b", "--stack", "stack.yaml", "--auto-approve", "-q")
    assert done.code == 0, done.text
    assert project.files() == {}
    project.applied()
    assert "aws/us-east-1/Pulumi.yaml" in project.files()
    remove(project, "b")
    project.applied("--allow-empty")
    assert project.files() == {}


@pytest.mark.parametrize("gitops", [None, "argocd"])
def test_shared_files_come_back_after_everything_went(project, gitops):
    project.stack("us-east-1", **({"gitops": gitops} if gitops else {}))
    project.task("a")
    project.applied()
    assert project.run("destroy", "--stack", "stack.yaml", "--auto-approve", "-q").code == 0
    assert project.files() == {}
    project.applied()
    assert "aws/us-east-1/Pulumi.yaml" in project.files()
    assert project.plan("--detailed-exitcode").code == 0


def test_files_of_a_target_that_was_taken_out_are_not_forgotten(applied):
    applied.stack("eks")
    applied.task("c", resources={"cpus": 2})
    done = applied.plan()
    assert done.code == 0
    assert "warning[target-left-behind]: set `demo` has files of target `alpha`" in done.err
    applied.stack("eks", "alpha")
    applied.run("destroy", "--target", "alpha", "--stack", "stack.yaml", "--auto-approve", "-q")
    applied.stack("eks")
    assert "target-left-behind" not in applied.plan().err


def test_a_removed_work_takes_its_hand_edits_along_and_says_so(applied):
    path = applied.folder / "out/kubernetes/eks/demo-b-1/job.yaml"
    path.write_text(path.read_text() + "# by hand\n")
    remove(applied, "b")
    said = applied.plan().out
    assert "kubernetes/eks/demo-b-1/job.yaml changed by hand; the edit goes with it" in said
    applied.applied()
    assert not path.parent.exists()


def test_a_record_that_leads_outside_is_not_followed(applied):
    outside = applied.write("precious.txt", "keep me\n")
    place = applied.folder / "out/.triplane/demo/eks/b.1.json"
    record = json.loads(place.read_text())
    for path in ("../precious.txt", str(outside), ".triplane/demo/eks/a.1.json", ""):
        place.write_text(json.dumps({**record, "files": {path: "0" * 64}}))
        remove(applied, "b") if (applied.folder / "tasks/b.yaml").exists() else None
        done = applied.apply()
        assert done.code == 1, done.text
        assert "cannot be read as a record" in done.err
    assert outside.read_text() == "keep me\n"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format_version": "9.0"}', "\xff", "{}"])
def test_a_broken_record_is_named_and_nothing_is_touched(applied, text):
    place = applied.folder / "out/.triplane/demo/eks/b.1.json"
    place.write_bytes(text.encode("latin-1"))
    before = applied.tree()
    for command in ("plan", "apply", "status", "destroy"):
        done = applied.run(command, "--stack", "stack.yaml")
        assert done.code == 1, command
        assert f"{place} cannot be read as a record" in done.err
    assert applied.tree() == before


def test_a_work_folder_and_the_inputs_may_hold_the_output(project):
    project.stack("alpha", "eks", set={"name": "demo", "inputs": ["."]})
    project.task("a", workdir=".", resources={"infra": "slurm"})
    project.task("b", resources={"infra": "k8s"})
    project.applied()
    assert project.files()
    assert actions(project.plan_json()) == {"a@alpha": "no-op", "b@eks": "no-op"}
