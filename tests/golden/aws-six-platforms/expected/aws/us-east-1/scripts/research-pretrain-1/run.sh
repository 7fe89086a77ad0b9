torchrun --nnodes "$SKYPILOT_NUM_NODES" --node-rank "$SKYPILOT_NODE_RANK" \
  --nproc-per-node "$SKYPILOT_NUM_GPUS_PER_NODE" \
  --master-addr "$(head -n 1 <<<"$SKYPILOT_NODE_IPS")" train.py
