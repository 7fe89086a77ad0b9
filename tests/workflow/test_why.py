"""`triplane why`: back from a rendered line to the YAML and the rule that made it."""

import re

import pytest

from compiler.workflow import field_reasons
from compiler.workflow.tracing import Tracer

TRAIN = """\
name: train
num_nodes: 2
resources:
  accelerators: H100:8
  infra: slurm/alpha
envs:
  LR: "0.1"
config: {slurm: {sbatch_options: {time: "4:00:00"}}}
setup: |
  pip list
run: |
  echo start
  python train.py --lr $LR
  echo end
"""
SERVE = """\
resources: {cpus: 4, infra: k8s/eks}
envs: {GREETING: "good morning"}
run: |
  python -m http.server
"""
RENTED = """\
name: rented
resources: {accelerators: A10G:1, infra: aws/us-east-1}
run: nvidia-smi
"""


@pytest.fixture
def rendered(project):
    project.stack("alpha", "eks", "us-east-1", root=".")
    project.write("tasks/train.yaml", TRAIN)
    project.write("tasks/serve.yaml", SERVE)
    project.write("tasks/rented.yaml", RENTED)
    done = project.run("render", "--stack", "stack.yaml", "--out", "r")
    assert done.code == 0, done.text
    return project


def line_of(project, path, words):
    """FILE:LINE of the first line that has the words."""
    lines = (project.folder / path).read_text().splitlines()
    return f"{path}:{next(at for at, line in enumerate(lines, 1) if words in line)}"


def why(project, path, words, *more):
    place = line_of(project, path, words)
    done = project.run("why", place, "--stack", "stack.yaml", "--format", "json", *more)
    assert done.code == 0, done.text
    return done.json


def sources(answer):
    return {
        (item["document"], item["field"]): item["location"] for item in answer["origin"]["sources"]
    }


SBATCH = "r/slurm/alpha/demo-train-1/job.sbatch"


@pytest.mark.parametrize(
    ("words", "field", "location"),
    [
        ("#SBATCH --nodes=", "num_nodes", "tasks/train.yaml:2:12"),
        ("#SBATCH --gres=", "resources.accelerators", "tasks/train.yaml:4:17"),
        ("#SBATCH --time=", "config.slurm.sbatch_options.time", "tasks/train.yaml:8:41"),
        ("export LR=", "envs.LR", "tasks/train.yaml:7:7"),
        ("pip list", "setup", "tasks/train.yaml:10:3"),
        ("echo start", "run", "tasks/train.yaml:12:3"),
        ("python train.py", "run", "tasks/train.yaml:13:3"),
        ("echo end", "run", "tasks/train.yaml:14:3"),
    ],
)
def test_lines_of_a_script(rendered, words, field, location):
    assert sources(why(rendered, SBATCH, words)) == {("task", field): location}


def test_names_come_from_task_stack_and_run(rendered):
    answer = why(rendered, SBATCH, "#SBATCH --job-name=")
    assert sources(answer) == {
        ("task", "name"): "tasks/train.yaml:1:7",
        ("stack", "set.name"): "stack.yaml:2:9",
    }
    assert any("digest of the task" in rule for rule in answer["origin"]["rules"])
    assert "number of the run" in answer["origin"]["rules"]


def test_keys_of_the_stack(rendered):
    answer = why(rendered, SBATCH, "#SBATCH --output=")
    assert sources(answer)["stack", "targets.alpha.workdir"].startswith("stack.yaml:")
    labelled = {"kubernetes": {"custom_metadata": {"labels": {"cost-centre": "lab"}}}}
    rendered.stack("alpha", "eks", "us-east-1", root=".", config=labelled)
    assert rendered.run("render", "--stack", "stack.yaml", "--out", "r").code == 0
    manifest = why(rendered, "r/kubernetes/eks/demo-serve-1/job.yaml", "cost-centre: lab")
    key = "config.kubernetes.custom_metadata.labels.cost-centre"
    assert list(sources(manifest)) == [("stack", key)]


def test_templates_catalogue_and_defaults(rendered):
    launcher = why(rendered, SBATCH, "# Runs a task's setup and run as one rank")
    assert launcher["origin"]["rules"] == ["template templates/common/launcher.sh:1"]
    assert launcher["origin"]["sources"] == []
    default = why(rendered, "r/kubernetes/eks/demo-serve-1/job.yaml", "completionMode:")
    assert default["origin"]["rules"][0].startswith("default of the kubernetes target")
    program = "r/aws/us-east-1/workloads/demo_rented_1.py"
    looked_up = why(rendered, program, "g5.xlarge")
    assert ("task", "resources.accelerators") in sources(looked_up)
    assert "catalogue row of instance type g5.xlarge" in looked_up["origin"]["rules"]


def test_a_name_that_only_the_file_has(rendered):
    answer = why(rendered, "r/kubernetes/eks/demo-serve-1/job.yaml", "triplane.dev/work:")
    assert "name of the file, as the task has none" in answer["origin"]["rules"]


def test_every_line_of_the_user_is_traced_to_its_own(rendered):
    """Each line of each run text, wherever it is rendered, leads back to the line it is."""
    for path, start, text in (
        (SBATCH, 12, TRAIN.split("run: |\n")[1]),
        ("r/kubernetes/eks/demo-serve-1/scripts.yaml", 4, SERVE.split("run: |\n")[1]),
    ):
        for at, line in enumerate(text.splitlines()):
            found = sources(why(rendered, path, line.strip()))
            (location,) = [place for (_, field), place in found.items() if field == "run"]
            assert re.search(rf"\.yaml:{start + at}:\d+$", location), (line, location)


def test_a_file_of_the_target_as_a_whole(rendered):
    answer = why(rendered, "r/aws/us-east-1/common/network.py", "def ")
    assert answer["work"] == ""
    assert "template templates/aws/common/network.py" in answer["origin"]["rules"][0]


def test_files_that_an_apply_wrote_with_their_run(rendered):
    rendered.stack("alpha", "eks", "us-east-1", root=".", gitops="argocd")
    rendered.applied()
    rendered.write("tasks/train.yaml", TRAIN.replace("num_nodes: 2", "num_nodes: 3"))
    rendered.applied()
    answer = why(rendered, "out/slurm/alpha/demo-train-2/job.sbatch", "#SBATCH --nodes=3")
    assert answer["path"] == "slurm/alpha/demo-train-2/job.sbatch"
    assert sources(answer) == {("task", "num_nodes"): "tasks/train.yaml:2:12"}


def test_a_file_that_is_old_is_said_to_be(rendered):
    rendered.write("tasks/train.yaml", TRAIN.replace("  LR:", "  AA: x\n  LR:"))
    place = line_of(rendered, SBATCH, "export LR=")
    done = rendered.run("why", place, "--stack", "stack.yaml")
    assert done.code == 0, done.text
    assert "tasks/train.yaml:8:7" in done.out
    assert "not what the input renders now" in done.err


def test_values_of_the_command_line(rendered):
    words = ("--env", "LR=0.7", "tasks/train.yaml", "--stack", "stack.yaml")
    assert rendered.run("render", *words, "--out", "r").code == 0
    answer = why(rendered, SBATCH, "export LR=", "--env", "LR=0.7", "tasks/train.yaml")
    assert sources(answer) == {("task", "envs.LR"): "<command line>:1:7"}


def test_secrets_are_in_no_answer(rendered):
    rendered.write("tasks/train.yaml", TRAIN + "secrets: {TOKEN: do-not-print}\n")
    assert rendered.run("render", "--stack", "stack.yaml", "--out", "r").code == 0
    done = rendered.run("why", line_of(rendered, SBATCH, "echo end"), "--stack", "stack.yaml")
    assert done.code == 0
    assert "do-not-print" not in done.text


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("r/slurm/alpha/demo-train-1/job.sbatch", "no FILE:LINE"),
        ("r/slurm/alpha/demo-train-1/job.sbatch:99999", "no line 99999"),
        ("r/slurm/alpha/demo-train-1/absent:1", "No such file"),
        ("stack.yaml:1", "lies in no rendered tree"),
        ("r/slurm/alpha/demo-gone-1/job.sbatch:1", "renders slurm/alpha/demo-gone-1"),
    ],
)
def test_places_that_are_none(rendered, place, words):
    rendered.write("r/slurm/alpha/demo-gone-1/job.sbatch", "#!/bin/bash\n")
    done = rendered.run("why", place, "--stack", "stack.yaml")
    assert done.code == 64
    assert words in done.err


def test_the_text_for_people(rendered):
    done = rendered.run(
        "why", line_of(rendered, SBATCH, "#SBATCH --nodes="), "--stack", "stack.yaml"
    )
    assert done.out == (
        "#SBATCH --nodes=2\n"
        "  in    slurm/alpha/demo-train-1/job.sbatch (work train)\n"
        "  from  tasks/train.yaml:2:12  task: num_nodes\n"
    )


def test_a_plan_says_at_each_field_what_it_comes_from(rendered):
    rendered.applied()
    changed = TRAIN.replace("num_nodes: 2", "num_nodes: 3").replace('"0.1"', '"0.2"')
    rendered.write("tasks/train.yaml", changed)
    (work,) = [item for item in rendered.plan_json()["works"] if item["action"] == "update"]
    (script,) = work["objects"]
    fields = {
        field["path"]: [item["field"] for item in field["because"]] for field in script["fields"]
    }
    assert fields["--nodes"] == ["num_nodes"]
    assert fields["script"] == ["num_nodes", "envs.LR"]
    shown = rendered.plan().out
    assert (
        "~ --nodes: 2 -> 3\n            because num_nodes changed (tasks/train.yaml:2:1)" in shown
    )
    rendered.write("tasks/serve.yaml", SERVE.replace("cpus: 4", "cpus: 8"))
    serve = next(item for item in rendered.plan_json()["works"] if item["work"] == "serve")
    because = {
        field["path"]: field["because"]
        for item in serve["objects"]
        for field in item.get("fields", ())
    }
    (cpu,) = [path for path in because if path.endswith("requests.cpu")]
    assert because[cpu] == [{"field": "resources.cpus", "location": "tasks/serve.yaml:1:13"}]


def test_what_was_taken_out_is_a_reason_too(rendered):
    rendered.applied()
    rendered.write("tasks/serve.yaml", SERVE.replace('envs: {GREETING: "good morning"}\n', ""))
    serve = next(item for item in rendered.plan_json()["works"] if item["work"] == "serve")
    fields = [field for item in serve["objects"] for field in item.get("fields", ())]
    assert fields
    assert all(
        [item["field"] for item in field["because"]] == ["envs.GREETING"] for field in fields
    )


def test_of_too_many_changed_values_the_rest_stays_without_a_reason(rendered, monkeypatch):
    def with_values(value: str) -> str:
        envs = ", ".join(f'V{number}: "{value}"' for number in range(field_reasons.MOST_VALUES + 9))
        return SERVE.replace('envs: {GREETING: "good morning"}\n', f"envs: {{{envs}}}\n")

    rendered.write("tasks/serve.yaml", with_values("a"))
    rendered.applied()
    rendered.write("tasks/serve.yaml", with_values("b"))
    asked = []
    ask = Tracer.with_document
    monkeypatch.setattr(
        Tracer, "with_document", lambda self, *words: asked.append(words) or ask(self, *words)
    )
    serve = next(item for item in rendered.plan_json()["works"] if item["work"] == "serve")
    assert len(asked) == field_reasons.MOST_VALUES
    fields = [field for item in serve["objects"] for field in item.get("fields", ())]
    named = {item["field"] for field in fields for item in field["because"]}
    assert len(named) == field_reasons.MOST_VALUES
    assert "envs.V0" in named
    assert f"envs.V{field_reasons.MOST_VALUES + 8}" not in named
