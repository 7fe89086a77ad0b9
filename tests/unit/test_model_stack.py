"""Stack files: paths, targets, deployers, secrets, workspaces."""

from pathlib import Path

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import Deployer, SecretSource, Stack, TargetKind, build_stack
from compiler.source import read_text
from tests.unit.model_documents import built_file

SHORT = "set: {name: llama}\ntargets:\n  prod: {kind: kubernetes}\n"
FULL = """\
set: {name: llama, inputs: [tasks/, ../shared/volume.yaml]}
root: ..
out: ../rendered
targets:
  prod: {kind: kubernetes, context: prod-eks, version: "1.34", deployer: server-side-apply}
  alpha: {kind: slurm, host: alpha-login, deployer: ssh, out: elsewhere}
  us-east-1: {kind: aws, deployer: pulumi, files: {bucket: s3://my-bucket}}
secrets:
  HF_TOKEN:
    prod: {secret: hf/token}
    alpha: {file: ~/.hf}
    us-east-1: {ssm: /hf}
policy: {max_accelerators: 64}
pricing: {alpha: {H100: 2.5}}
on_files_change: run
gitops: flux
requester_env: GITHUB_ACTOR
workspace: research
workspaces:
  research: {namespace: ml, qos: high, alpha: {account: res}}
config:
  slurm: {cluster_configs: {alpha: {cpu_partition: cpu}}}
"""


def stack_of(text: str, path: str) -> Stack:
    diagnostics = Diagnostics()
    (document,) = read_text(text, "shown.yaml", diagnostics)
    stack = build_stack(document, diagnostics, path)
    assert stack is not None, [item.message for item in diagnostics]
    return stack


def test_paths_are_relative_to_the_stack_file(tmp_path):
    stack = stack_of(FULL, str(tmp_path / "stacks" / "prod.yaml"))
    assert stack.name == "prod"
    assert stack.inputs == (
        str(tmp_path / "stacks" / "tasks"),
        str(tmp_path / "shared" / "volume.yaml"),
    )
    assert (stack.root, stack.out) == (str(tmp_path), str(tmp_path / "rendered"))
    assert stack.targets["alpha"].options["out"] == str(tmp_path / "stacks" / "elsewhere")


def test_paths_of_the_caller_are_resolved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stack = stack_of(SHORT + "root: .\n", "stacks/demo.yaml")
    assert stack.out == str(tmp_path / "stacks" / "rendered" / "demo")
    assert stack.root == str(tmp_path / "stacks")


def test_the_path_of_the_document_is_the_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stack, found = built_file(SHORT, "stacks/demo.yml")
    assert found == []
    assert (stack.name, stack.out) == ("demo", str(tmp_path / "stacks" / "rendered" / "demo"))


def test_a_full_stack():
    stack = stack_of(FULL, "/x/prod.yaml")
    assert stack.set_name == "llama"
    prod, alpha, aws = stack.targets.values()
    assert (prod.key, prod.kind, prod.deployer, prod.version) == (
        "prod",
        TargetKind.KUBERNETES,
        Deployer.SERVER_SIDE_APPLY,
        "1.34",
    )
    assert prod.options == {"context": "prod-eks"}
    assert (alpha.kind, alpha.deployer) == (TargetKind.SLURM, Deployer.SSH)
    assert (aws.kind, aws.deployer) == (TargetKind.AWS, Deployer.PULUMI)
    assert stack.secrets["HF_TOKEN"] == {
        "prod": SecretSource("secret", "hf/token"),
        "alpha": SecretSource("file", "~/.hf"),
        "us-east-1": SecretSource("ssm", "/hf"),
    }
    assert (stack.policy, stack.pricing) == ({"max_accelerators": 64}, {"alpha": {"H100": 2.5}})
    assert (stack.on_files_change, stack.gitops) == ("run", "flux")
    assert (stack.workspace, stack.requester_env) == ("research", "GITHUB_ACTOR")
    assert stack.workspaces == {
        "research": {"": {"namespace": "ml", "qos": "high"}, "alpha": {"account": "res"}}
    }
    assert stack.config["slurm"]["cluster_configs"]["alpha"]["cpu_partition"] == "cpu"
    assert alpha.origin.span("host").location == "shown.yaml:6:30"


def test_defaults():
    stack = stack_of(SHORT, "/x/s.yaml")
    assert stack.targets["prod"].deployer is Deployer.DIRECTORY
    assert (stack.root, stack.gitops, stack.workspace, stack.requester_env) == (None,) * 4
    assert (stack.on_files_change, stack.inputs, stack.config) == ("ignore", (), {})


def test_the_workspace_of_the_configuration():
    text = SHORT + "config: {active_workspace: a, workspaces: {a: {}}}\n"
    assert stack_of(text, "/x/s.yaml").workspace == "a"
    assert stack_of(SHORT + "workspace: default\n", "/x/s.yaml").workspace == "default"


@pytest.mark.parametrize(
    ("kind", "deployers"),
    [
        ("kubernetes", {"directory", "server-side-apply", "pulumi"}),
        ("slurm", {"directory", "ssh", "local"}),
        ("aws", {"directory", "pulumi"}),
    ],
)
def test_deployers_by_kind(kind, deployers):
    for deployer in Deployer:
        text = f"set: {{name: s}}\ntargets:\n  t: {{kind: {kind}, deployer: {deployer}}}\n"
        expected = [] if deployer in deployers else [f"3:{25 + len(kind)} deployer-kind"]
        assert built_file(text)[1] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set: {}\ntargets: {t: {kind: aws}}\n", ["1:1 set-name"]),
        ("set: {name: s}\ntargets: {}\n", ["2:10 no-targets"]),
        ("set: {name: s}\ntargets: {t: {}}\n", ["2:11 target-kind"]),
        ("set: {name: s}\ntargets: {t: {kind: k8s}}\n", ["2:21 target-kind"]),
        (SHORT + "pricing: {prd: {H100: 2}}\n", ["4:11 unknown-target"]),
        (SHORT + "secrets: {A: {prd: {secret: a/b}}}\n", ["4:15 unknown-target"]),
        (SHORT + "secrets: {A: {prod: {ssm: /a}}}\n", ["4:22 secret-source"]),
        (
            SHORT + "secrets: {A: {prod: {secret: a/b, external_secret: a/b}}}\n",
            ["4:21 secret-source"],
        ),
        (SHORT + "workspaces: {w: {prod: {qos: high}}}\n", ["4:25 workspace-key"]),
        (SHORT + "workspaces: {w: {prd: {namespace: x}}}\n", ["4:18 unknown-target"]),
        (SHORT + "workspace: w\n", ["4:12 unknown-workspace"]),
        (SHORT + "config: {active_workspace: w}\n", ["4:28 unknown-workspace"]),
        (SHORT + "set_name: x\n", ["4:1 unknown-field"]),
        (
            "set: {name: s}\ngitops: argocd\n"
            "targets: {t: {kind: kubernetes, ttl_seconds_after_finished: 60}}\n",
            ["3:33 gitops-ttl"],
        ),
    ],
)
def test_stacks_refused(text, expected):
    assert built_file(text)[1] == expected


def test_a_misspelt_target_gets_a_suggestion():
    diagnostics = Diagnostics()
    (document,) = read_text(SHORT + "pricing: {prd: {H100: 2}}\n", "s.yaml", diagnostics)
    assert build_stack(document, diagnostics) is None
    assert [item.hint for item in diagnostics] == ["did you mean `prod`?"]


@pytest.mark.parametrize(
    "text",
    [
        "set: 3\ntargets: 4\n",
        "set: {name: [1]}\ntargets: {t: 5, u: {kind: [], deployer: 3}}\n",
        SHORT + "root: 3\nout: [4]\nsecrets: {A: 5}\npricing: {prod: 3}\nworkspaces: {w: 7}\n",
        SHORT + "config: 8\npolicy: 9\ngitops: []\nworkspace: {}\nrequester_env: 1\n",
    ],
)
def test_values_of_the_wrong_kind_never_crash(text):
    stack, found = built_file(text)
    assert stack is None
    assert found


def test_links_in_paths_stay(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    stack = stack_of(SHORT, str(tmp_path / "link" / "s.yaml"))
    assert Path(stack.out).parent.parent == tmp_path / "link"
