#!/bin/bash
#SBATCH --time=10
python3 - <<'PY'
import os
print("#SBATCH is no directive here", "$HOME")
PY
cat >params.in <<EOF
	steps = 10   
  it's a `date` and $USER
EOF
./model params.in
