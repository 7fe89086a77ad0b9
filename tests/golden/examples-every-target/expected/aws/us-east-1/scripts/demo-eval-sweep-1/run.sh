first=$((SKYPILOT_JOB_RANK * SEEDS_PER_JOB))
for offset in $(seq 0 $((SEEDS_PER_JOB - 1))); do
  echo "evaluating with seed $((first + offset))"
done
