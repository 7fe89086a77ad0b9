. ~/venv/bin/activate
torchrun \
  --nnodes="$SKYPILOT_NUM_NODES" \
  --nproc-per-node="$SKYPILOT_NUM_GPUS_PER_NODE" \
  --node-rank="$SKYPILOT_NODE_RANK" \
  --master-addr="$(echo "$SKYPILOT_NODE_IPS" | head -n1)" \
  --master-port=29501 \
  allreduce.py
