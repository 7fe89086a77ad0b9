set -e
. ~/venv/bin/activate
head_ip=$(echo "$SKYPILOT_NODE_IPS" | head -n1)
torchrun \
  --nnodes="$SKYPILOT_NUM_NODES" \
  --nproc-per-node="$SKYPILOT_NUM_GPUS_PER_NODE" \
  --node-rank="$SKYPILOT_NODE_RANK" \
  --rdzv-backend=c10d \
  --rdzv-id="$SKYPILOT_TASK_ID" \
  --rdzv-endpoint="$head_ip:29500" \
  train.py \
  --model "$MODEL" \
  --sequence-length "$SEQUENCE_LENGTH" \
  --global-batch-size "$GLOBAL_BATCH_SIZE" \
  --learning-rate "$LEARNING_RATE" \
  --max-steps "$MAX_STEPS"
