tail -n +2 parameters.csv |
  awk -v rank="$SKYPILOT_NODE_RANK" -v nodes="$SKYPILOT_NUM_NODES" 'NR % nodes == rank' |
  xargs -P 8 -d '\n' -n 1 bash simulate.sh
