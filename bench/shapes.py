"""The six shapes of generated tasks; each makes the text of task `number` for a kind of target."""

from __future__ import annotations

from collections.abc import Callable

_INFRA = {"kubernetes": "k8s/here", "slurm": "slurm/here", "aws": "aws/here"}
_MODELS = ("llama-3.1-8b", "qwen3-32b", "mixtral-8x7b", "gemma-3-27b", "phi-4")
_DATA = ("c4", "fineweb-edu", "the-stack-v2", "dclm", "redpajama", "slimpajama", "proof-pile")


def _size(kind: str, cpus: int, memory: int) -> str:
    """On AWS the instance type has more than what is asked for; elsewhere it is exact."""
    more = "+" * (kind == "aws")
    return f"  cpus: {cpus}{more}\n  memory: {memory}{more}\n"


def _labels(number: int, kind: str) -> str:
    if kind == "slurm":  # has no labels; jobs are sorted by comment and QoS there
        return ""
    return f"  labels:\n    team: team-{number % 17}\n    experiment: x{number}\n"


def _disk(number: int, kind: str) -> str:
    return "" if kind == "slurm" else f"  disk_size: {100 + number % 400}\n"


def _variables(number: int, count: int) -> str:
    lines = (f"  OPTION_{n}: '{number * 31 + n} of {_DATA[n % 7]}'\n" for n in range(count))
    return "".join(lines)


def _config(number: int, kind: str) -> str:
    match kind:
        case "kubernetes":
            return f"""\
config:
  kubernetes:
    pod_config:
      spec:
        nodeSelector:
          pool: pool-{number % 23}
        containers:
          - env:
              - {{name: NCCL_DEBUG, value: INFO}}
              - {{name: NCCL_SOCKET_IFNAME, value: eth{number % 4}}}
"""
        case "slurm":
            return f"""\
config:
  slurm:
    sbatch_options:
      time: "{1 + number % 71}:00:00"
      constraint: rack-{number % 23}
      comment: "experiment {number}"
      exclusive: true
"""
    options = f"[--shm-size={1 + number % 64}g, --ulimit=memlock=-1]"
    return f"config:\n  docker:\n    run_options: {options}\n"


def _pretraining(number: int, kind: str) -> str:
    nodes = 2 + number % 15
    fabric = "  network_tier: best\n" if kind == "aws" else ""
    return f"""\
# Pre-training, experiment {number}: {_MODELS[number % 5]} on {_DATA[number % 7]}.
#   triplane apply pretrain-{number}.yaml --stack stacks/research.yaml
name: pretrain-{number}
num_nodes: {nodes}

resources:
  infra: {_INFRA[kind]}
  accelerators: H100:8
{_size(kind, 96 + number % 90, 512 + number % 700)}{fabric}{_labels(number, kind)}
envs:
  MODEL: {_MODELS[number % 5]}
  DATA: {_DATA[number % 7]}
  SEQUENCE_LENGTH: "{1024 * (1 + number % 8)}"
  GLOBAL_BATCH_SIZE: "{nodes * 64}"
  LEARNING_RATE: "{1 + number % 9}.{number}e-4"
  CHECKPOINTS: /checkpoints/pretrain-{number}
{_variables(number, number % 6)}
# The value lies where the stack says.
secrets:
  HF_TOKEN: null

setup: |
  set -e
  python3 -m venv ~/venv
  ~/venv/bin/pip install --quiet torch==2.{number % 8}.0 datasets==3.{number % 10}

run: |
  set -e
  . ~/venv/bin/activate
  mkdir -p "$CHECKPOINTS"
  head_ip=$(echo "$SKYPILOT_NODE_IPS" | head -n1)
  torchrun \\
    --nnodes="$SKYPILOT_NUM_NODES" \\
    --nproc-per-node="$SKYPILOT_NUM_GPUS_PER_NODE" \\
    --node-rank="$SKYPILOT_NODE_RANK" \\
    --rdzv-backend=c10d \\
    --rdzv-id="$SKYPILOT_TASK_ID" \\
    --rdzv-endpoint="$head_ip:{20000 + number % 9000}" \\
    train.py \\
    --model "$MODEL" --data "$DATA" \\
    --sequence-length "$SEQUENCE_LENGTH" \\
    --global-batch-size "$GLOBAL_BATCH_SIZE" \\
    --learning-rate "$LEARNING_RATE" \\
    --checkpoints "$CHECKPOINTS" \\
    --seed {number}
"""


def _finetuning(number: int, kind: str) -> str:
    modules = "".join(f"    - {name}_proj\n" for name in "qkvo"[: 1 + number % 4])
    return f"""\
# Fine-tuning on whichever accelerator is there first.
name: finetune-{_DATA[number % 7]}-{number}
resources:
  infra: {_INFRA[kind]}
{_size(kind, 8, 64)}  max_hourly_cost: {60 + number % 40}
  any_of:
    - accelerators: A100-80GB:{1 if kind != "aws" else 8}
    - accelerators: L40S:1
    - {{accelerators: "L4:{1 if kind == "aws" else 1 + number % 4}"}}
envs: {{BASE_MODEL: {_MODELS[number % 5]}, EPOCHS: "{1 + number % 6}", RUN: finetune-{number}}}
secrets:
  HF_TOKEN:
setup: |
  pip install --quiet "trl==0.24.{number % 10}" "peft==0.17.1" "bitsandbytes==0.4{number % 9}.0"
run: |
  cat >lora.yaml <<END
  adapter: lora
  lora_r: {8 << number % 4}
  lora_alpha: {16 << number % 4}
  lora_dropout: 0.0{number % 10}
  target_modules:
{modules}  micro_batch_size: {1 + number % 16}
  learning_rate: {1 + number % 9}.0e-5
  wandb_name: finetune-{number}
  END
  trl sft \\
    --config lora.yaml \\
    --model_name_or_path "$BASE_MODEL" \\
    --dataset_name trl-lib/{_DATA[number % 7]} \\
    --num_train_epochs "$EPOCHS" \\
    --output_dir ~/sky_workdir/out-{number}
  # keep what was learned
  tar -czf "out-{number}.tar.gz" -C ~/sky_workdir out-{number}
"""


def _preparation(number: int, kind: str) -> str:
    steps = "\n".join(
        f"  python prepare.py --shard {n} --of {3 + number % 9} --seed {number + n}"
        for n in range(3 + number % 9)
    )
    return f"""\
name: prepare.{number}
num_nodes: {1 + number % 3}
resources:
  infra: {_INFRA[kind]}
{_size(kind, 4 + number % 12, 16 + number % 48)}{_disk(number, kind)}{_labels(number, kind)}
envs:
  INPUT: /data/{_DATA[number % 7]}/{number}
  OUTPUT: /data/tokenized/{number}
{_variables(number, 2 + number % 9)}
run: |
  set -euo pipefail
  mkdir -p "$OUTPUT"
{steps}
  # every rank writes an index of its own; the last one joins them
  find "$OUTPUT" -name '*.bin' | sort >"$OUTPUT/index-{number}.$SKYPILOT_NODE_RANK.txt"
  if [ "$SKYPILOT_NODE_RANK" -eq $((SKYPILOT_NUM_NODES - 1)) ]; then
    cat "$OUTPUT"/index-{number}.*.txt | sort -u >"$OUTPUT/index-{number}.txt"
  fi
"""


def _evaluation(number: int, kind: str) -> str:
    models = "\n".join(f'    "{_MODELS[n % 5]}-{number + n}"' for n in range(2 + number % 5))
    return f"""\
# Evaluates several models in one container.
name: evaluate_{number}
resources:
  infra: {_INFRA[kind]}
  accelerators: {{L4: 1}}
{_size(kind, 4, 16)}  image_id: docker:nvcr.io/nvidia/pytorch:25.{1 + number % 12:02}-py3
{_labels(number, kind)}
{_config(number, kind)}
envs:
  TASKS: "hellaswag,arc_challenge,mmlu_{number}"
  BATCH: '{1 + number % 64}'
  RESULTS: /results/{number % 31}/evaluate-{number}

setup: |
  pip install --quiet lm_eval==0.4.{number % 10}
  python -c "import torch; print(torch.__version__, torch.cuda.device_count())"

run: |
  models=(
{models}
  )
  for model in "${{models[@]}}"; do
    echo "evaluating $model, batch $BATCH, rank $SKYPILOT_NODE_RANK"
    lm_eval \\
      --model hf \\
      --model_args "pretrained=$model,dtype=bfloat16" \\
      --tasks "$TASKS" \\
      --batch_size "$BATCH" \\
      --output_path "$RESULTS/$model.json" || failed+=("$model")
  done
  [ "${{#failed[@]}}" -eq 0 ] || {{ echo "failed: ${{failed[*]}}"; exit 1; }}
"""


def _sweep(number: int, kind: str) -> str:
    more = "+" * (kind == "aws")
    size = f'cpus: "{4 + number % 4}{more}", memory: "{16 + number % 8}{more}"'
    return f"""\
name: sweep-{number}
resources: {{infra: {_INFRA[kind]}, accelerators: "A10G:1", {size}}}
envs:
  SEED: "{number}"
  RATE: "{1 + number % 99}e-5"
  WARMUP: "{100 + number}"
  OPTIMIZER: {("adamw", "lion", "sophia")[number % 3]}
{_variables(number, 1 + number % 4)}setup: |
  echo 'preparing seed {number}'
  pip install --quiet -r https://example.com/requirements-{number % 40}.txt
run: >
  python sweep.py --seed "$SEED" --rate "$RATE"
  --warmup "$WARMUP" --index {number}
  --optimizer "$OPTIMIZER" --report-to "https://example.com/runs/{number}"
"""


def _tuning(number: int, kind: str) -> str:
    more = "+" * (kind == "aws")
    return f"""\
# The second choice differs from the first in its accelerators only.
name: tune-{number}
num_nodes: {1 + number % 8}
resources:
  infra: {_INFRA[kind]}
  ordered:
    - &node
      accelerators: A100-80GB:8
      cpus: {32 + number % 32}{more}
      memory: {256 + number % 256}{more}
    - <<: *node
      accelerators: H100:8
{_config(number, kind)}envs:
  NOTE: "line one of {number}\\nline two: it's \\"quoted\\""
  OPTIONS: --alpha {number % 10} --beta={number} '--gamma=$x'
{_variables(number, number % 5)}secrets: {{HF_TOKEN: null}}
setup: |
  set -e
  curl -fsSL https://example.com/tool-{number % 50}.tar.gz | tar -xz -C ~/.local
  cat >~/tune.json <<END
  {{
    "trial": {number},
    "sampler": "tpe",
    "budget": {number * 7},
    "space": {{"depth": [1, {2 + number % 30}], "width": [64, {128 * (1 + number % 16)}]}}
  }}
  END

run: |
  trap 'echo "trial {number} stops"; kill %1' TERM
  ~/.local/bin/tool tune ~/tune.json $OPTIONS \\
    --world "$SKYPILOT_NUM_NODES" --rank "$SKYPILOT_NODE_RANK" --trial {number} &
  wait %1
"""


SHAPES: tuple[Callable[[int, str], str], ...] = (
    _pretraining,
    _finetuning,
    _preparation,
    _evaluation,
    _sweep,
    _tuning,
)
