"""Differences: by field, by list-map key, by #SBATCH option, with secrets masked."""

from compiler.planning.differences import FieldAction, FieldChange, differences
from compiler.rendering.artifact import Artifact, ArtifactKind

KEYS = {
    ("spec", "containers"): ("name",),
    ("spec", "containers", "env"): ("name",),
    ("spec", "ports"): ("port", "protocol"),
}


def merge_keys(api_version, kind, path):
    return KEYS.get(path)


def compare(before, after, kind=ArtifactKind.MANIFEST):
    artifact = Artifact("kubernetes/k/x/x.yaml", after, kind, "x")
    return differences(before, artifact, merge_keys)


POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: main
    image: a
    env:
    - {name: A, value: "1"}
    - {name: C, value: "3"}
"""


def test_an_inserted_list_item_is_one_change():
    after = POD.replace("    - {name: C", '    - {name: B, value: "2"}\n    - {name: C')
    assert compare(POD, after) == [
        FieldChange(
            "spec.containers[name=main].env[name=B]",
            FieldAction.ADD,
            after={"name": "B", "value": "2"},
        )
    ]


def test_order_of_keys_and_quoting_are_no_difference():
    after = POD.replace('{name: A, value: "1"}', "{value: '1', name: 'A'}")
    assert compare(POD, after) == []


def test_a_changed_value_names_its_container():
    changes = compare(POD, POD.replace("image: a", "image: b"))
    assert changes == [
        FieldChange("spec.containers[name=main].image", FieldAction.CHANGE, "a", "b")
    ]


def test_one_and_true_differ():
    before = "{apiVersion: v1, kind: X, spec: {a: 1}}"
    assert [item.after for item in compare(before, before.replace("1}", "true}"))] == [True]


def test_lists_without_keys_are_atomic():
    before = "{apiVersion: v1, kind: X, spec: {args: [a, b]}}"
    changes = compare(before, before.replace("[a, b]", "[a, c, b]"))
    assert changes == [FieldChange("spec.args", FieldAction.CHANGE, ["a", "b"], ["a", "c", "b"])]


def test_keys_with_dots_are_quoted():
    before = "{apiVersion: v1, kind: X, spec: {limits: {}}}"
    after = "{apiVersion: v1, kind: X, spec: {limits: {nvidia.com/gpu: 8}}}"
    assert compare(before, after)[0].path == 'spec.limits."nvidia.com/gpu"'


def test_secret_data_is_masked():
    before = "{apiVersion: v1, kind: Secret, data: {t: b2xk}}"
    for after in (
        "{apiVersion: v1, kind: Secret, data: {t: bmV3}}",
        "{apiVersion: v1, kind: Secret, data: {t: b2xk, u: bmV3}}",
        "{apiVersion: v1, kind: Secret, data: {}}",
    ):
        changes = compare(before, after)
        assert len(changes) == 1
        assert changes[0].sensitive
        assert "b2xk" not in repr(changes)
        assert "bmV3" not in repr(changes)


def test_a_script_differs_by_option_and_by_line():
    before = "#!/bin/bash\n#SBATCH --gres=gpu:h100:8\n#SBATCH --nodes=2\necho a\n"
    after = "#!/bin/bash\n#SBATCH --gres=gpu:h100:4\n#SBATCH --nodes=2\necho b\n"
    changes = compare(before, after, ArtifactKind.SBATCH)
    assert changes[0] == FieldChange("--gres", FieldAction.CHANGE, "gpu:h100:8", "gpu:h100:4")
    assert changes[1].path == "script"
    assert "-echo a" in changes[1].lines
    assert "+echo b" in changes[1].lines
    assert len(changes) == 2


def test_a_live_text_that_is_no_yaml_is_compared_as_text():
    changes = compare("a: [", "{apiVersion: v1, kind: X}")
    assert len(changes) == 1
    assert changes[0].action is FieldAction.CHANGE


def test_changed_paths_are_those_of_the_differences():
    from compiler.planning.differences import changed_paths

    script = Artifact("a", "#SBATCH --nodes=2\n#SBATCH --x\necho\n", ArtifactKind.SBATCH, "a")
    shell = Artifact("a", "echo 1\n", ArtifactKind.SHELL, "a")
    for before, artifact in (
        ("#SBATCH --nodes=1\necho\n", script),
        ("#SBATCH --nodes=2\n#SBATCH --x\necho 2\n", script),
        ("#SBATCH --y=1\n#SBATCH --nodes=3\n", script),
        (script.text, script),
        ("echo 2\n", shell),
    ):
        found = {item.path for item in differences(before, artifact, lambda *words: None)}
        assert changed_paths(before, artifact, lambda *words: None) == found
