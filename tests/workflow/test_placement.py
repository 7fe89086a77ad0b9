"""Where work goes, in which order, why, and why not; and that it stays there."""

import pytest

from tests.workflow.project import actions


def rows(plan, work="train"):
    """(target, resources, chosen) of the candidate table, in its order."""
    [change] = [item for item in plan["works"] if item["work"] == work]
    return [(row["target"], row.get("resources", ""), row["chosen"]) for row in change["placement"]]


def reasons(plan, work="train"):
    [change] = [item for item in plan["works"] if item["work"] == work]
    return {
        (row["target"], row.get("resources", "")): row.get("reason", "")
        for row in change["placement"]
    }


@pytest.mark.parametrize(
    ("infra", "target"),
    [
        (None, "alpha"),
        ("slurm", "alpha"),
        ("slurm/alpha", "alpha"),
        ("k8s", "eks"),
        ("kubernetes", "eks"),
        ("k8s/eks", "eks"),
        ("k8s/demo-eks", "eks"),
        ("aws", "us-east-1"),
        ("aws/us-east-1", "us-east-1"),
        ("*/eks", "eks"),
        ("*", "alpha"),
    ],
)
def test_infra_names_a_target_by_kind_key_context_or_region(project, infra, target):
    project.stack()
    project.task("train", resources={"cpus": 2, **({"infra": infra} if infra else {})})
    assert actions(project.plan_json()) == {f"train@{target}": "create"}


@pytest.mark.parametrize(
    ("infra", "words"),
    [
        ("slurm/alhpa", "did you mean `alpha`?"),
        ("k8s/demo-ekz", "did you mean `demo-eks`?"),
        ("aws/us-east-2", "did you mean `us-east-1`?"),
        ("k8s/alpha", "is no target of stack `stack`"),
        ("gcp", "is no target of stack `stack`"),
        ("kubernets", "did you mean `kubernetes`?"),
    ],
)
def test_an_unknown_infra_is_said_with_what_there_is(project, infra, words):
    project.stack()
    project.task("train", resources={"cpus": 2, "infra": infra})
    done = project.plan()
    assert done.code == 1
    assert words in done.err
    assert "tasks/train.yaml:" in done.err


def test_a_candidate_for_nowhere_is_dropped_with_a_warning(project):
    project.stack()
    project.task(
        "train", resources={"cpus": 2, "any_of": [{"infra": "slurm/alhpa"}, {"infra": "k8s"}]}
    )
    done = project.plan("--format", "json")
    assert done.code == 0
    assert actions(done.json) == {"train@eks": "create"}
    assert "warning[infra-not-in-stack]: `slurm/alhpa`" in done.err


def test_without_infra_the_stack_s_order_decides_and_the_plan_says_so(project):
    project.stack("eks", "alpha")
    project.task("train")
    planned = project.plan()
    assert "placed on eks: first in the stack's order" in planned.out
    assert "could also go to alpha" in planned.out


def test_prices_decide_before_the_stack_s_order(project):
    project.stack(pricing={"alpha": {"H100": 9.0}, "eks": {"H100": 2.5}})
    project.task("train", resources={"accelerators": "H100:8", "cpus": "8+"}, num_nodes=2)
    plan = project.plan_json()
    assert [target for target, _, _ in rows(plan)] == ["eks", "us-east-1", "alpha"]
    assert "placed on eks H100:8 (40.00 $/h): cheapest at 40.00 $/h" in project.plan().out
    assert "alpha H100:8 (144.00 $/h)" in project.plan().out


def test_any_of_takes_the_cheapest_over_all_kinds(project):
    project.stack(pricing={"alpha": {"H100": 9.0, "A100": 1.0}, "eks": {"H100": 2.5, "A100": 2.0}})
    project.task(
        "train",
        resources={
            "cpus": "8+",
            "any_of": [{"accelerators": "H100:1"}, {"accelerators": "A100:1"}],
        },
    )
    plan = project.plan_json()
    assert rows(plan)[:3] == [
        ("alpha", "A100:1", True),
        ("eks", "A100:1", False),
        ("eks", "H100:1", False),
    ]


def test_ordered_comes_before_every_price(project):
    project.stack(pricing={"alpha": {"H100": 9.0, "A100": 1.0}, "eks": {"H100": 2.5, "A100": 2.0}})
    project.task(
        "train",
        resources={
            "cpus": "8+",
            "ordered": [
                {"accelerators": "H100:1", "infra": "slurm"},
                {"accelerators": "A100:1", "infra": "slurm"},
                {"accelerators": "A100:1", "infra": "k8s"},
            ],
        },
    )
    assert rows(project.plan_json()) == [
        ("alpha", "H100:1", True),
        ("alpha", "A100:1", False),
        ("eks", "A100:1", False),
    ]
    assert "first in the order that the task gives" in project.plan().out


def test_a_refused_row_is_listed_with_its_reason(project):
    project.stack()
    project.task("train", resources={"accelerators": "A100:1", "cpus": "4+"})
    plan = project.plan_json()
    assert rows(plan)[-1] == ("us-east-1", "A100:1", False)
    assert "no AWS instance type has 1 A100" in reasons(plan)["us-east-1", "A100:1"]
    assert "refused by us-east-1 A100:1: no AWS instance type has 1 A100" in project.plan().out


def test_where_every_row_is_refused_each_says_why(project):
    project.stack("us-east-1", "alpha", pricing={"alpha": {"A100": 5.0}})
    project.task(
        "train", resources={"accelerators": "A100:1", "cpus": "4+", "max_hourly_cost": 3.0}
    )
    done = project.plan()
    assert done.code == 1
    assert "no-target" in done.err
    assert "us-east-1: no AWS instance type has 1 A100" in done.err
    assert "a node costs 5 USD an hour on alpha, the limit is 3" in done.err


def test_max_hourly_cost_is_a_limit_for_one_node_on_every_kind(project):
    project.stack(pricing={"alpha": {"H100": 9.0}, "eks": {"H100": 2.5}})
    resources = {"accelerators": "H100:1", "cpus": "4+", "max_hourly_cost": 3.0}
    project.task("train", resources=resources, num_nodes=4)
    plan = project.plan_json()
    assert rows(plan)[0] == ("eks", "H100:1", True)
    refused = reasons(plan)
    assert refused["alpha", "H100:1"] == "a node costs 9 USD an hour on alpha, the limit is 3"
    assert "us-east-1" in {target for target, _ in refused}


def test_a_recorded_placement_holds_until_move(project):
    project.stack("alpha", "eks", pricing={"alpha": {"cpu": 1.0}, "eks": {"cpu": 2.0}})
    project.task("train")
    project.applied()
    project.stack("alpha", "eks", pricing={"alpha": {"cpu": 3.0}, "eks": {"cpu": 2.0}})
    plan = project.plan_json()
    assert actions(plan) == {"train@alpha": "no-op"}
    assert reasons(plan)["alpha", ""] == "placed there before; move with --move"
    moved = project.plan_json("--move")
    assert actions(moved) == {"train@alpha": "delete", "train@eks": "create"}
    assert {work["reason"] for work in moved["works"]} == {"moves from alpha to eks"}
    done = project.applied("--move")
    assert done.out.splitlines()[-2:] == [
        "slurm/alpha/train run 1: deleted",
        "kubernetes/eks/train run 2: created",
    ]
    assert {path.split("/")[0] for path in project.files()} == {"kubernetes"}
    assert actions(project.plan_json()) == {"train@eks": "no-op"}
    assert project.plan("--move", "--detailed-exitcode").code == 0


def test_a_task_that_may_no_longer_be_where_it_is_moves_by_itself(project):
    project.stack("alpha", "eks")
    project.task("train")
    project.applied()
    project.task("train", resources={"cpus": 2, "infra": "k8s"})
    plan = project.plan_json()
    assert actions(plan) == {"train@alpha": "delete", "train@eks": "create"}
    project.applied()
    assert {path.split("/")[0] for path in project.files()} == {"kubernetes"}


def test_a_failed_removal_leaves_the_work_where_it_is(project, monkeypatch):
    from compiler.targets.directory import deployer

    project.stack("alpha", "eks")
    project.task("train")
    project.applied()

    def refuse(out, path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(deployer, "remove_file", refuse)
    project.task("train", resources={"cpus": 2, "infra": "k8s"})
    done = project.apply()
    assert done.code == 1
    assert "failed: slurm/alpha/train: alpha: slurm/alpha" in done.err
    assert "train stays where it is: its earlier step failed" in done.err
    assert not any(path.startswith("kubernetes") for path in project.files())


def test_every_target_gets_it_where_it_can_be_taken(project):
    project.stack()
    project.task("train", resources={"accelerators": "A100:1", "cpus": "4+"})
    rendered = project.run("render", "--stack", "stack.yaml", "--every-target", "--format", "json")
    places = {item["path"].split("/")[1] for item in rendered.json["artifacts"]}
    assert places == {"alpha", "eks"}  # AWS has no single A100
    plan = project.plan_json("--every-target")
    assert actions(plan) == {"train@alpha": "create", "train@eks": "create"}
    assert all("placement" not in work for work in plan["works"])
    project.applied("--every-target")
    assert project.plan("--every-target", "--detailed-exitcode").code == 0
    # Without it one of them is where the work is.
    assert actions(project.plan_json()) == {"train@alpha": "no-op"}
    (project.folder / "tasks/train.yaml").unlink()
    assert set(actions(project.plan_json("--allow-empty")).values()) == {"delete"}


def test_every_target_plans_nothing_where_each_would_really_run(project):
    project.stack(
        "eks", targets={"a": {"kind": "slurm", "deployer": "local"}, "b": {"kind": "kubernetes"}}
    )
    project.task("train")
    done = project.plan("--every-target")
    assert done.code == 64
    assert "a would each run the work" in done.err
    rendered = project.run("render", "--stack", "stack.yaml", "--every-target", "--out", "r")
    assert rendered.code == 0, rendered.text


def test_a_target_without_a_deployer_in_this_version_blocks_no_other(project, monkeypatch):
    from compiler.diagnostics import WorkFailed
    from compiler.workflow import observe

    deployer_of = observe.deployer_of

    def lacking(stack, target, **more):
        if target.key == "live":
            raise WorkFailed("live: this version cannot apply with `deployer: pulumi` to aws")
        return deployer_of(stack, target, **more)

    monkeypatch.setattr(observe, "deployer_of", lacking)
    project.stack(
        targets={
            "live": {
                "kind": "aws",
                "deployer": "pulumi",
                "region": "us-east-1",
                "files": {"bucket": "s3://b"},
            },
            "alpha": {"kind": "slurm"},
        }
    )
    project.task("a", resources={"infra": "slurm"})
    project.task("b", resources={"infra": "aws"})
    done = project.plan("--format", "json")
    assert done.code == 3
    assert actions(done.json) == {"a@alpha": "create", "b@live": "unknown"}
    assert done.json["complete"] is False
    applied = project.apply()
    assert applied.code == 3
    assert "slurm/alpha/a run 1: created" in applied.out
    assert "live was not asked" in applied.out


def test_offline_asks_directories_alone_and_is_not_to_be_applied(project):
    project.stack(
        targets={"live": {"kind": "slurm", "deployer": "local"}, "alpha": {"kind": "slurm"}}
    )
    project.task("a", resources={"infra": "slurm/alpha"})
    project.task("b", resources={"infra": "slurm/live"})
    offline = project.plan("--offline", "--out", "offline.json", "--format", "json")
    assert offline.code == 0
    assert actions(offline.json) == {"a@alpha": "create", "b@live": "unknown"}
    assert (offline.json["applyable"], offline.json["complete"]) == (False, False)
    assert [item.get("skipped") for item in offline.json["targets"]] == ["offline", None]
    refused = project.run("apply", "offline.json")
    assert refused.code == 1
    assert "cannot be applied" in refused.err
    assert not (project.folder / "out").exists()


def test_a_failure_on_one_target_stops_no_other(project, monkeypatch):
    from compiler.diagnostics import WorkFailed
    from compiler.targets.directory import DirectoryDeployer

    execute = DirectoryDeployer.execute

    def fails(self, step, progress):
        if self.target == "alpha":
            raise WorkFailed("the disk is full")
        return execute(self, step, progress)

    monkeypatch.setattr(DirectoryDeployer, "execute", fails)
    project.stack("alpha", "eks")
    project.task("train")
    done = project.apply("--every-target")
    assert done.code == 1
    assert "failed: slurm/alpha/train" in done.err
    assert "kubernetes/eks/train run 1: created" in done.out
