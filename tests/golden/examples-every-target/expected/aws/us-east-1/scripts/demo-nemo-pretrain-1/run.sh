set -e
torchrun --nnodes="$SKYPILOT_NUM_NODES" --node-rank="$SKYPILOT_NODE_RANK" \
  --nproc-per-node="$SKYPILOT_NUM_GPUS_PER_NODE" \
  --rdzv-backend=c10d --rdzv-endpoint="$(echo "$SKYPILOT_NODE_IPS" | head -n1):29500" \
  --no-python nemo llm pretrain --factory "$RECIPE" trainer.max_steps="$MAX_STEPS" --yes
