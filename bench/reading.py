"""Reading with positions against PyYAML's C composer alone, on the same texts in the same run.

`python -m bench reading` prints the ratio of processor times (median and the
10th and 90th percentile); the aim is a ratio of at most 2. The two are timed in turns, so that
other load on the machine meets both alike.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from compiler.diagnostics import Diagnostics
from compiler.source import read_text

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 2.0

TASK = """\
name: train-{n}
num_nodes: {nodes}
workdir: .
resources:
  infra: k8s/prod
  accelerators: {{H100: 8}}
  cpus: 64+
  memory: 512
  any_of:
    - use_spot: true
    - use_spot: false
envs:
  MODEL: meta-llama/Llama-3-8B
  BATCH_SIZE: 32
  LEARNING_RATE: "1e-5"
secrets:
  HF_TOKEN: null
file_mounts:
  /data: s3://corpus/part-{n}
  /checkpoints:
    name: checkpoints-{n}
    store: s3
    mode: MOUNT_CACHED
setup: |
  set -e
  pip install -r requirements.txt
  python -c "import torch; print(torch.__version__)"
run: |
  # started on every node
  MASTER_ADDR=$(echo "$SKYPILOT_NODE_IPS" | head -n1)
  torchrun --nnodes $SKYPILOT_NUM_NODES --node_rank $SKYPILOT_NODE_RANK \\
    --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE --master_addr $MASTER_ADDR \\
    train.py --batch-size $BATCH_SIZE
"""


def texts() -> dict[str, list[str]]:
    """The inputs by name: many small files, one long file, and the repository's examples."""
    tasks = [TASK.format(n=n, nodes=n % 4 + 1) for n in range(50)]
    examples = sorted((ROOT / "examples").rglob("*.yaml"))
    return {
        "50 files of one task": tasks,
        "one file of 50 tasks": ["---\n".join(tasks)],
        "examples/": [path.read_text(encoding="utf-8") for path in examples],
    }


def read(inputs: list[str]) -> None:
    for text in inputs:
        read_text(text, "bench.yaml", Diagnostics())


def compose(inputs: list[str]) -> None:
    for text in inputs:
        for _ in yaml.compose_all(text, Loader=yaml.CSafeLoader):
            pass


def timed(work: Callable[[list[str]], None], inputs: list[str]) -> float:
    start = time.process_time()
    work(inputs)
    return time.process_time() - start


def main(rounds: int = 60) -> int:
    worst = 0.0
    for name, inputs in texts().items():
        pairs = [(timed(read, inputs), timed(compose, inputs)) for _ in range(rounds)]
        ratios = sorted(ours / theirs for ours, theirs in pairs)
        median = ratios[rounds // 2]
        worst = max(worst, median)
        print(
            f"reading {name}: {median:.2f} x compose "
            f"({ratios[rounds // 10]:.2f}-{ratios[rounds * 9 // 10]:.2f}), "
            f"{min(ours for ours, _ in pairs) * 1e3:.2f} ms"
        )
    print(f"worst median {worst:.2f}, limit {LIMIT:.1f}: {'ok' if worst <= LIMIT else 'TOO SLOW'}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
