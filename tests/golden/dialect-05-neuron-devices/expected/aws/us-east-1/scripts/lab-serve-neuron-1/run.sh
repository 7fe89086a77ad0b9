cores=$((SKYPILOT_NUM_GPUS_PER_NODE * 2))
python -m serve --tensor-parallel-size "$cores"
