echo "hello from rank $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES"
