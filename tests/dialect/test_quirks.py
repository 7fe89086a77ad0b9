"""The limits of SkyPilot 0.14.1 that triplane does not have: one row of docs/dialect.md each."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.catalog import by_memory
from compiler.model import Group, Task
from tests.dialect.judging import Judgement, judge
from tests.dialect.purposes import rows
from tests.unit.model_documents import built_file

GOLDEN = Path(__file__).parents[1] / "golden"


def task_of(text: str) -> Task:
    built, found = built_file(text)
    assert isinstance(built, Task), found
    return built


def codes(judgement: Judgement) -> list[str]:
    return sorted(error.code for error in judgement.errors)


def test_every_row_is_shown() -> None:
    table = list(rows("Quirks of 0.14.1"))
    assert [row[0] for row in table] == [str(number) for number in range(1, 41)]
    for row in table:
        name = row[3].strip("`")
        assert name in globals() or (GOLDEN / name).is_dir(), row


def test_disk_size_256_is_given() -> None:
    (given,) = task_of("resources: {disk_size: 256}\nrun: x\n").resources.candidates
    (absent,) = task_of("resources: {cpus: 2}\nrun: x\n").resources.candidates
    assert (given.disk_size, absent.disk_size) == (256, None)


def test_at_least_and_ratios_are_kept() -> None:
    (one,) = task_of("resources: {cpus: 4+, memory: 2x}\nrun: x\n").resources.candidates
    assert one.cpus is not None and one.cpus.at_least
    assert one.memory is not None and one.memory.per_cpu


def test_substitution_is_on_the_tree() -> None:
    task = task_of("envs: {A: 'say \"hi\" \\'}\nfile_mounts: {/a: ./$A}\nrun: x\n")
    assert task.file_mounts[0].source == './say "hi" \\'
    assert "substitution-default" in codes(judge("envs: {A: b}\nfile_mounts: {/a: '${A:-c}'}\n"))


def test_the_matrix_says_that_entrypoints_are_replaced() -> None:
    page = (GOLDEN.parents[1] / "docs" / "support-matrix.md").read_text()
    assert page.count("its entrypoint is replaced") >= 2


def test_unknown_keys_are_errors() -> None:
    found = judge("config: {kubernetes: {namespce: x}}\nresources: {job_recovery: {strategi: x}}\n")
    assert codes(found) == ["config-key", "job-recovery-key"]


def test_groups_are_read_like_other_files() -> None:
    group = "name: g\nexecution: parallel\n---\nname: a\nrun: x\n"
    assert "duplicate-key" in codes(judge(group + "run: y\n"))
    with_empty = judge(f"---\n# nothing\n---\n{group}")
    assert with_empty.meaning == judge(group).meaning
    assert with_empty.meaning is not None and with_empty.meaning["kind"] == "group"


def test_ephemeral_volumes_have_no_name() -> None:
    for key in ("name: v", "sub_path: a"):
        found = judge(f"volumes: {{/a: {{size: 10Gi, {key}}}}}\nrun: x\n")
        assert codes(found) == ["volume-keys"]


def test_sizes_of_volumes() -> None:
    task = task_of("volumes: {/a: {size: 10}, /b: {size: 1500Mi}}\nrun: x\n")
    assert [volume.size_gib for volume in task.volumes] == [10, 2]


def test_one_node_volumes_need_one_node() -> None:
    volume = "volumes: {/a: {size: 10Gi}}\nrun: x\n"
    assert codes(judge(f"num_nodes: 2\n{volume}")) == ["volume-access-mode"]
    assert judge(volume).accepted


def test_memory_of_devices() -> None:
    devices = by_memory("141GB+")
    assert devices is not None and {"H200", "B200"} <= set(devices)
    assert not {"H200", "B200", "GH200"} & set(by_memory("80GB") or ())


def test_ports_stay_apart() -> None:
    (one,) = task_of("resources: {ports: [80, 81]}\nrun: x\n").resources.candidates
    assert one.ports == ("80", "81")


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        ("pip install a\npip install b\n", True),
        ("set -e\npip install a\npip install b\n", False),
        ("set -euo pipefail; cd x\npip install b\n", False),
        ("set -o errexit\ncd x\npip install b\n", False),
        ("pip install \\\n  a b\n", False),
        ("# a comment\ncd x &&\n  make\n", False),
        ("make\n", False),
    ],
)
def test_setup_goes_on(setup: str, said: bool) -> None:
    text = "setup: |\n" + "".join(f"  {line}\n" for line in setup.splitlines()) + "run: x\n"
    found = judge(text)
    assert found.accepted
    assert any(item.code == "setup-goes-on" for item in found.found) is said


def test_autostop_without_minutes_is_one() -> None:
    for value in ("true", "{down: true}", "0"):
        (one,) = task_of(f"resources: {{autostop: {value}}}\nrun: x\n").resources.candidates
        assert one.autostop is not None and one.autostop.idle_minutes == 1


def test_primaries_decide() -> None:
    text = "name: g\nexecution: parallel\nprimary_tasks: [a]\n---\nname: a\n---\nname: b\n"
    built, found = built_file(text)
    assert isinstance(built, Group), found
    assert built.primary_tasks == ("a",)
