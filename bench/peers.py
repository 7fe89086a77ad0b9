"""TorchX 0.7.0's Slurm dry run and SkyPilot 0.14.1's loader beside ours, whole processes.

Each peer lives in an environment of its own, made once below ~/.cache/triplane/bench.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from bench.timing import processes, ratio, row

ROOT = Path(__file__).parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "triplane" / "bench"

TORCHX = """
from torchx.runner import get_runner
from torchx.specs import AppDef, Resource, Role
role = Role(name="llama", image="", entrypoint="torchrun", args=["train.py"], num_replicas=2,
            resource=Resource(cpu=96, gpu=8, memMB=512 * 1024), env={"MAX_STEPS": "20000"})
with get_runner() as runner:
    info = runner.dryrun(AppDef(name="llama-pretrain", roles=[role]), "slurm", {"partition": "gpu"})
    print(info)
"""
SKYPILOT = "import sys, sky\nprint(sky.Task.from_yaml(sys.argv[1]))"


def environment(name: str, requirement: str) -> str | None:
    """The Python of an environment that has `requirement`, made if it is not there yet."""
    folder = CACHE / name
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        print(f"installing {requirement} (once) ...", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", requirement], check=False)
        if done.returncode:
            print(f"{requirement} cannot be installed here: left out")
            return None
        (folder / ".ready").touch()
    return str(python)


def main() -> None:
    task = str(ROOT / "examples" / "llama-pretrain" / "task.yaml")
    stack = str(ROOT / "stacks" / "demo.yaml")
    triplane = [sys.executable, "-c", "from compiler.cli.main import entry; entry()"]
    os.chdir(ROOT)
    commands = {
        "triplane validate": [*triplane, "validate", task],
        "triplane render (slurm)": [*triplane, "render", task, "--stack", stack],
    }
    torchx = environment("torchx", "torchx==0.7.0")
    if torchx:
        commands["torchx 0.7.0 dryrun (slurm)"] = [torchx, "-c", TORCHX]
    sky = environment("skypilot", "skypilot==0.14.1")
    if sky:
        commands["skypilot 0.14.1 Task.from_yaml"] = [sky, "-c", SKYPILOT, task]
    times = processes(commands, rounds=5)
    for name, seconds in times.items():
        print(row(name, seconds))
    if torchx:
        ratio(
            "triplane render / torchx dryrun",
            times["triplane render (slurm)"],
            times["torchx 0.7.0 dryrun (slurm)"],
        )
    if sky:
        ratio(
            "triplane validate / skypilot loader",
            times["triplane validate"],
            times["skypilot 0.14.1 Task.from_yaml"],
        )


if __name__ == "__main__":
    main()
