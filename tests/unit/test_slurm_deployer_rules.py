"""The tables of the Slurm deployer: what can be changed, refusals, free accelerators, secrets."""

from __future__ import annotations

import subprocess

import pytest

from compiler.diagnostics import WorkFailed
from compiler.targets.slurm.deployer import explain_refusal, pending_fields, quotas, records
from compiler.targets.slurm.deployer.capacity import parse, takes_jobs
from compiler.targets.slurm.deployer.patch import scontrol_words
from compiler.targets.slurm.deployer.quotas import Charged
from compiler.targets.slurm.deployer.refusals import diagnose
from compiler.targets.slurm.deployer.remote import Answer

BEFORE = """\
#!/bin/bash
#SBATCH --job-name=demo.train.1.aaaaaaaa
#SBATCH --time=60
#SBATCH -p gpu
#SBATCH --nodes=2 --exclusive

srun hostname
"""


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ("--time=60", "--time=90", {"time": "90"}),
        ("--time=60", "-t 90", {"time": "90"}),
        ("--time=60", "-t90", {"time": "90"}),
        ("-p gpu", "--partition=cpu", {"partition": "cpu"}),
        ("-p gpu", "--partition gpu", {}),
        ("1.aaaaaaaa", "1.bbbbbbbb", {"job-name": "demo.train.1.bbbbbbbb"}),
        ("-p gpu", "-p gpu\n#SBATCH --qos=high", {"qos": "high"}),
        ("-p gpu", '-p gpu\n#SBATCH --comment="a # b"', {"comment": "a # b"}),
        ("-p gpu", "-p gpu # the big one", {}),
        ("--nodes=2", "--nodes=3", None),
        (" --exclusive", "", None),
        ("#SBATCH --time=60\n", "", None),
        ("srun hostname", "srun date", None),
        ("-p gpu", "-p gpu\n#SBATCH --gres=gpu:8", None),
    ],
)
def test_what_can_be_changed_while_a_job_waits(old, new, fields):
    assert old in BEFORE
    assert pending_fields(BEFORE, BEFORE.replace(old, new)) == fields


def test_scontrol_words():
    assert scontrol_words({"time": "90", "--qos": "high", "job-name": "a b"}) == [
        "QOS=high",
        "JobName=a b",
        "TimeLimit=90",
    ]
    for fields in ({"nodes": "3"}, {"priority": "1"}, {"comment": "a\nb"}):
        with pytest.raises(ValueError, match=next(iter(fields))):
            scontrol_words(fields)


@pytest.mark.parametrize(
    ("words", "code", "field"),
    [
        (
            "sbatch: error: Batch job submission failed: Invalid account or account/partition "
            "combination specified",
            "slurm-account-refused",
            "config.slurm.quota.account",
        ),
        (
            "sbatch: error: Batch job submission failed: Invalid qos specification",
            "slurm-qos-refused",
            "config.slurm.quota.queue",
        ),
        (
            "sbatch: error: invalid partition specified: gpus\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified",
            "slurm-partition-refused",
            "resources.infra",
        ),
        (
            "sbatch: error: Batch job submission failed: Requested time limit is invalid "
            "(missing or exceeds some limit)",
            "slurm-time-refused",
            "config.slurm.sbatch_options.time",
        ),
        (
            "sbatch: error: QOSMaxGRESPerUser\nsbatch: error: Batch job submission failed: Job "
            "violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            "slurm-limit-refused",
            "resources.accelerators",
        ),
        (
            "sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch job "
            "submission failed: Requested node configuration is not available",
            "slurm-nodes-refused",
            "resources.accelerators",
        ),
        (
            "sbatch: error: Batch job submission failed: Node count specification invalid",
            "slurm-nodes-refused",
            "resources.accelerators",
        ),
        (
            "sbatch: error: Batch job submission failed: Invalid feature specification",
            "slurm-feature-refused",
            "config.slurm.sbatch_options.constraint",
        ),
        (
            "slurm_update error: Access/permission denied",
            "slurm-permission-refused",
            "config.slurm.quota.account",
        ),
    ],
)
def test_refusals(words, code, field):
    refusal = explain_refusal(words)
    assert refusal is not None
    assert (refusal.code.name, refusal.fields[0]) == (code, field)
    (diagnostic,) = diagnose(words, "alpha")
    assert (diagnostic.code, diagnostic.target, diagnostic.hint) == (code, "alpha", refusal.hint)
    assert "sbatch:" not in diagnostic.message


def test_words_that_are_not_known():
    assert explain_refusal("sbatch: error: the moon is full") is None
    assert diagnose("sbatch: error: the moon is full", "alpha") == ()


NODES = """\
NodeName=h1 Arch=x86_64 Gres=gpu:h100:8(S:0-1) GresDrain=N/A GresUsed=gpu:h100:3(IDX:0-1,5) \
OS=Linux 6.1 #1 SMP State=MIXED ThreadsPerCore=1 Partitions=gpu AllocTRES=cpu=1,gres/gpu=3
NodeName=h2 Gres=gpu:h100:8 GresUsed=gpu:h100:0(IDX:N/A) State=IDLE+CLOUD+POWERED_DOWN
NodeName=h3 Gres=gpu:h100:8 GresUsed=gpu:h100:0(IDX:N/A) State=IDLE+DRAIN Reason=no State=IDLE
NodeName=m1 Gres=gpu:a100:4,gpu:tesla_t4:2,nvme:1 \
GresUsed=gpu:a100:4(IDX:0-3),gpu:tesla_t4:1(IDX:1) State=MIXED
NodeName=u1 Gres=gpu:4 GresUsed=gpu:1(IDX:0) State=MIXED+PLANNED
NodeName=x1 Gres=gpu:frobnicator:2 GresUsed=gpu:frobnicator:0(IDX:N/A) State=IDLE
NodeName=o1 Gres=gpu:h100:8 GresUsed=gpu:0 State=IDLE
NodeName=c1 Gres=(null) GresUsed=gpu:0 State=IDLE
"""


def test_free_accelerators():
    capacity = parse(NODES)
    assert capacity.free == {
        "A100": 0,
        "FROBNICATOR": 2,
        "GPU": 3,
        "H100": 5 + 8 + 8,
        "T4": 1,
    }
    assert capacity.detail == "8 nodes, 1 of them take no jobs now"


LIMITS = Answer(
    """\
assoc|research|research|normal|gres/gpu=16|
assoc|research|teaching|small||cpu=100,gres/gpu=6
qos|normal|||
qos|small|cpu=64,gres/gpu=4||gres/gpu=100
qos|big|gres/gpu=64|gres/gpu:h100=2|
used|teaching|small|cpu=8,mem=4G,gres/gpu=3,gres/gpu:h100=3
used|research|normal|cpu=8
"""
)


@pytest.mark.parametrize(
    ("charged", "room"),
    [
        (Charged(), {"": 16}),
        (Charged("teaching"), {"": 1}),
        (Charged("teaching", "normal"), {"": 3}),
        (Charged("research", "big"), {"": 16, "h100": 2}),
        (Charged("elsewhere"), {}),
    ],
)
def test_what_account_and_qos_leave(charged, room):
    assert quotas.room(LIMITS, charged) == room
    capacity = parse("NodeName=a State=IDLE Gres=gpu:h100:32 GresUsed=gpu:h100:0", None, room)
    assert capacity.free == {"H100": min(room.get("", 32), room.get("h100", 32))}
    assert ("by account and QOS" in capacity.detail) is bool(room)


def test_partitions_that_are_down_and_names_of_the_site():
    text = """\
partition|gpu|up
partition|old|down
NodeName=h1 Gres=gpu:big:8 GresUsed=gpu:big:2(IDX:0-1) State=MIXED Partitions=gpu,old
NodeName=o1 Gres=gpu:big:8 GresUsed=gpu:big:0(IDX:N/A) State=IDLE Partitions=old
"""
    capacity = parse(text, {"H200": "BIG"})
    assert capacity.free == {"H200": 6}
    assert capacity.detail == "2 nodes, 1 of them take no jobs now"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("IDLE", True),
        ("MIXED", True),
        ("ALLOCATED", True),
        ("IDLE+CLOUD", True),
        ("IDLE+CLOUD+POWER", True),
        ("IDLE+CLOUD+POWERING_UP", True),
        ("IDLE+POWERED_DOWN", True),
        ("IDLE~", True),
        ("IDLE+PLANNED", True),
        ("IDLE*", False),
        ("IDLE*+CLOUD", False),
        ("IDLE+NOT_RESPONDING", False),
        ("IDLE+DRAIN", False),
        ("IDLE+CLOUD+POWERING_DOWN", False),
        ("IDLE+MAINTENANCE", False),
        ("MIXED+RESERVED", False),
        ("IDLE+REBOOT_REQUESTED", False),
        ("DOWN", False),
        ("DOWN*", False),
        ("DOWN+DRAIN", False),
        ("FUTURE", False),
        ("UNKNOWN", False),
        ("ERROR", False),
        ("", False),
    ],
)
def test_nodes_that_take_jobs(state, expected):
    assert takes_jobs(state) is expected


def test_secret_lines_are_what_bash_reads():
    values = {
        "PLAIN": "abc",
        "HARD": 'it\'s $HOME `date` \\ "x" #\n!second',
        "EMPTY": "",
        "UNICODE": "ü\u2028",
    }
    script = records.secret_lines(values) + "".join(
        f'printf "%s\\0" "${name}"\n' for name in values
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == list(values.values())


@pytest.mark.parametrize("name", ["A-B", "1A", "A B", "A;date", ""])
def test_a_secret_that_cannot_be_a_variable(name):
    with pytest.raises(WorkFailed, match="cannot be the name of a variable"):
        records.secret_lines({name: "x"})
