#!/bin/bash
#SBATCH --time=10
cat >config.ini <<'EOF'
token = hf_abcdefghijklmnopqrstuvwxyz012345
EOF
./run.x
