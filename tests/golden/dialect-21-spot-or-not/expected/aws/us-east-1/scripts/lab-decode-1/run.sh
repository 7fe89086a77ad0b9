flags=(--eager --trust)
python decode.py "${flags[@]/#/--x}" "${#flags[@]}"
if [ $? -ne 0 ]; then echo "rank $SKYPILOT_NODE_RANK failed"; fi
