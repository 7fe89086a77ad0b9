first=$(echo "$SKYPILOT_NODE_IPS" | head -n1)
./all_reduce --rank "$SKYPILOT_NODE_RANK" --of "$SKYPILOT_NUM_NODES" --meet "$first:12345"
