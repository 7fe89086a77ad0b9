"""The Slurm site itself works: what all other tests on it rely on."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.slurm_site import SiteError, SlurmSite

pytest_plugins = ["tests.fixtures_slurm"]
pytestmark = pytest.mark.slurm


def run(site: SlurmSite, *argv: str, cluster: str = "alpha", user: str = "alice") -> str:
    done = site.run(cluster, user, list(argv))
    assert done.returncode == 0, done.stderr
    return done.stdout


def ssh(site: SlurmSite, cluster: str, user: str, command: str, text: str = "") -> str:
    argv = site.ssh(cluster).argv(user, command)
    done = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nodes(slurm_site):
    sinfo = ["sinfo", "-h", "-N", "-p", "gpu", "-O", "NodeList:12,Gres:14,CPUs:4,Memory:8"]
    rows = [line.split() for line in run(slurm_site, *sinfo).splitlines()]
    assert rows == [
        ["alpha-a1", "gpu:a100:4", "64", "500000"],
        ["alpha-h1", "gpu:h100:8", "96", "1000000"],
        ["alpha-h2", "gpu:h100:8", "96", "1000000"],
    ]
    assert run(slurm_site, "sinfo", "-h", "-o", "%P %D", cluster="beta") == "batch* 2\n"


def test_two_nodes_with_all_their_gpus(slurm_site):
    show = 'echo "$(hostname) $SLURM_NODEID $CUDA_VISIBLE_DEVICES"'
    options = ["--nodes=2", "--ntasks-per-node=1", "--gpus-per-node=h100:8"]
    output = run(slurm_site, "srun", *options, "bash", "-c", show)
    assert sorted(output.splitlines()) == [
        "alpha-h1 0 0,1,2,3,4,5,6,7",
        "alpha-h2 1 0,1,2,3,4,5,6,7",
    ]


def test_one_gpu_a_rank(slurm_site):
    show = "echo $SLURM_LOCALID $CUDA_VISIBLE_DEVICES"
    options = ["--ntasks=4", "--nodes=1", "--gpus-per-task=1"]
    output = run(slurm_site, "srun", *options, "bash", "-c", show)
    assert sorted(output.splitlines()) == ["0 0", "1 1", "2 2", "3 3"]


def test_batch_job_and_sacct(slurm_site):
    script = "#!/bin/bash\n#SBATCH --partition=cpu --time=5 --output=%x-%j.out\nid -un\nexit 4\n"
    slurm_site.write("alice", "jobs/four.sh", script)
    job = run(slurm_site, "sbatch", "--parsable", "--job-name=four", "jobs/four.sh").strip()
    assert slurm_site.wait_job("alpha", job) == "FAILED"
    output = slurm_site.home("alice") / f"four-{job}.out"
    assert output.read_text() == "alice\n"
    sacct = ["sacct", "-X", "-n", "-P", "-j", job, "--format=state,exitcode,account,qos"]
    # sacct lags, and knows the state before the QOS.
    row = "FAILED|4:0|research|normal\n"
    slurm_site.wait_for(lambda: run(slurm_site, *sacct) == row, 20, f"sacct to say {row}")


@pytest.mark.parametrize(
    ("user", "options", "message"),
    [
        ("alice", ["--account=teaching"], "Invalid account"),
        ("alice", ["--qos=small"], "Invalid qos"),
        ("bob", ["--qos=small", "--gpus=5"], "QOSMaxGRESPerUser"),
        ("svc", [], "Invalid account"),
        ("alice", ["--gres=gpu:h200:1"], "Requested node configuration is not available"),
    ],
)
def test_refusals(slurm_site, user, options, message):
    done = slurm_site.run("alpha", user, ["sbatch", *options, "--wrap", "true"])
    assert done.returncode != 0
    assert message in done.stderr


def test_preemption(slurm_site):
    scavenge = ["--qos=scavenge", "--nodes=2", "--gpus-per-node=h100:8", "--wrap", "sleep 100"]
    high = ["--qos=high", "--nodes=1", "--gpus-per-node=h100:8", "--wrap", "true"]
    low_job = run(slurm_site, "sbatch", "--parsable", "--requeue", *scavenge).strip()
    assert slurm_site.wait_job("alpha", low_job, "RUNNING") == "RUNNING"
    high_job = run(slurm_site, "sbatch", "--parsable", *high).strip()
    assert slurm_site.wait_job("alpha", high_job) == "COMPLETED"
    assert slurm_site.job_state("alpha", low_job) in ("PENDING", "COMPLETING")
    run(slurm_site, "scancel", low_job)


def test_container_options_reach_batch_script_and_step(slurm_site):
    script = """#!/bin/bash
#SBATCH --container-image="nvcr.io#nvidia/pytorch:24.05-py3"
#SBATCH --container-mounts=/data:/data:ro --output=container.out
echo $STANDIN_PYXIS_CONTAINER_IMAGE $STANDIN_PYXIS_CONTAINER_MOUNTS
srun --container-image=alpine --no-container-mount-home bash -c \
    'echo $STANDIN_PYXIS_CONTAINER_IMAGE $STANDIN_PYXIS_NO_CONTAINER_MOUNT_HOME'
"""
    slurm_site.write("alice", "container.sh", script)
    job = run(slurm_site, "sbatch", "--parsable", "container.sh").strip()
    assert slurm_site.wait_job("alpha", job) == "COMPLETED"
    assert (slurm_site.home("alice") / "container.out").read_text().splitlines() == [
        "nvcr.io#nvidia/pytorch:24.05-py3 /data:/data:ro",
        "alpine 1",
    ]
    done = slurm_site.run("alpha", "alice", ["srun", "--container-image=", "true"])
    assert "argument required" in done.stderr


@pytest.mark.parametrize("cluster", ["alpha", "beta"])
def test_ssh(slurm_site, cluster):
    output = ssh(slurm_site, cluster, "alice", "hostname; id -un; scontrol show config")
    assert output.startswith(f"{cluster}-login\nalice\n")
    assert f"ClusterName             = {cluster}\n" in output


def test_svc_submits_for_alice(slurm_site):
    script = "#!/bin/bash\n#SBATCH -o from-svc.out -w beta-h1\necho $(hostname) $(id -un)\n"
    submit = "sudo -n -H -u alice /bin/bash -lc 'cd && sbatch --parsable'"
    job = ssh(slurm_site, "beta", "svc", submit, script).strip()
    assert slurm_site.wait_job("beta", job) == "COMPLETED"
    output = slurm_site.home("alice") / "from-svc.out"
    assert output.read_text() == "beta-h1 alice\n"
    refused = subprocess.run(slurm_site.ssh("beta").argv("svc", "sudo -n id"), capture_output=True)
    assert refused.returncode != 0


def test_clients_in_path(slurm_site, tmp_path):
    folder = slurm_site.bin_dir("beta", "alice")
    env = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "FROM_CALLER": "1"}
    command = ["srun", "bash", "-c", "echo $(id -un) $FROM_CALLER $(pwd)"]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == f"alice 1 {slurm_site.home('alice')}\n", done.stderr
    done = subprocess.run(
        ["sbatch", "--parsable", "--output=local.out"],
        env=env,
        cwd=slurm_site.home("alice"),
        input="#!/bin/sh\nid -un\n",
        capture_output=True,
        text=True,
    )
    slurm_site.wait_job("beta", done.stdout.strip())
    assert (slurm_site.home("alice") / "local.out").read_text() == "alice\n"


def test_each_host_has_its_own_tmp(slurm_site):
    run(slurm_site, "touch", "/tmp/on-login")
    assert "on-login" in run(slurm_site, "ls", "/tmp")
    assert "on-login" not in run(slurm_site, "srun", "ls", "/tmp")


def test_faults_and_reset(slurm_site):
    job = run(slurm_site, "sbatch", "--parsable", "--wrap", "sleep 100").strip()
    slurm_site.wait_job("alpha", job, "RUNNING")
    slurm_site.service("slurmdbd", "stop")
    assert slurm_site.run("alpha", "alice", ["sacct"]).returncode != 0
    slurm_site.service("alpha-h2", "restart")
    slurm_site.service("beta-login", "stop")
    refused = subprocess.run(slurm_site.ssh("beta").argv("svc", "true"), capture_output=True)
    assert refused.returncode == 255
    slurm_site.reset()
    assert slurm_site.running()
    assert slurm_site.wait_job("alpha", job) == "CANCELLED"
    assert ssh(slurm_site, "beta", "svc", "id -un") == "svc\n"
    run(slurm_site, "sacct")
    with pytest.raises(SiteError, match="no daemon 'gamma-ctl'; there are munged, "):
        slurm_site.service("gamma-ctl", "stop")


def test_up_again_does_nothing(slurm_site):
    pids = {file.name: file.read_text() for file in (slurm_site.state / "pids").iterdir()}
    SlurmSite.load(slurm_site.state).up()
    assert {file.name: file.read_text() for file in (slurm_site.state / "pids").iterdir()} == pids


def test_without_accounting(slurm_site_no_accounting):
    site = slurm_site_no_accounting
    job = run(site, "sbatch", "--parsable", "--partition=cpu", "--wrap", "exit 3").strip()
    assert site.wait_job("alpha", job) == "FAILED"
    done = site.run("alpha", "alice", ["sacct", "-j", job])
    assert done.returncode != 0
    assert "accounting storage is disabled" in done.stderr
    assert ssh(site, "alpha", "alice", "squeue -h -o %i") == ""


@pytest.mark.usefixtures("slurm_site_no_accounting")  # skips where Slurm cannot run
def test_keeps_its_state_and_leaves_nothing():
    root = os.environ.get("TRIPLANE_SLURM_ROOT")
    site = SlurmSite.temporary(clusters=["beta"], accounting=False, root=root)
    try:
        site.up()
        first = run(site, "sbatch", "--parsable", "--wrap", "true", cluster="beta")
        site.wait_job("beta", first.strip())
        site.down(purge=False)
        assert not site.running()
        site.up()
        second = run(site, "sbatch", "--parsable", "--wrap", "true", cluster="beta")
        assert int(second) == int(first) + 1
    finally:
        site.down()
    assert not site.state.exists()
    mounts = subprocess.run("cat /proc/*/mountinfo 2>/dev/null", shell=True, capture_output=True)
    assert str(site.state) not in mounts.stdout.decode()
    site.down()
