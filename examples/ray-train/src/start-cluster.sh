#!/bin/bash
# Starts Ray on all nodes of a task and runs the given command on the first one.
# The others wait for as long as the head answers, and end with it.
set -euo pipefail
port=${RAY_HEAD_PORT:-6379}
head=$(echo "$SKYPILOT_NODE_IPS" | head -n1)
if [ "$SKYPILOT_NODE_RANK" -gt 0 ]; then
    until ray start --address "$head:$port"; do sleep 2; done
    while ray status --address "$head:$port" >/dev/null 2>&1; do sleep 10; done
    exit 0
fi
ray start --head --port "$port" --num-gpus "$SKYPILOT_NUM_GPUS_PER_NODE"
trap 'ray stop' EXIT
until [ "$(ray list nodes --filter state=ALIVE --format json | grep -c node_id)" -ge "$SKYPILOT_NUM_NODES" ]; do
    sleep 2
done
"$@"
