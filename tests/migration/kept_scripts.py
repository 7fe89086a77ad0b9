"""Scripts that are run both ways: by hand as they are, and rendered from their tasks."""

from __future__ import annotations

SCRIPTS: dict[str, str | bytes] = {
    "environment": """#!/bin/bash
#SBATCH --ntasks=2 --cpus-per-task=2 --mem=200M --partition=cpu --time=5
#SBATCH --output=out.txt
env | grep -E '^(SLURM|SBATCH)_' | sort
echo "PATH=$PATH HOME=$HOME USER=$USER SHELL=$SHELL"
""",
    "steps-on-one-node": """#!/bin/bash
#SBATCH --ntasks=3
#SBATCH --partition=cpu
srun bash -c 'echo "$SLURM_PROCID of $SLURM_NTASKS"' | sort >ranks.txt
srun -n 1 hostname >host.txt
""",
    "steps-on-two-nodes": """#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=2 --partition=gpu --constraint=h100
#SBATCH --output=two.out
scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l
srun bash -c 'echo "$SLURM_NODEID $SLURM_LOCALID"' | sort
""",
    "steps-on-chosen-nodes": """#!/bin/bash
#SBATCH -N 2 -p gpu -C h100
for node in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
    srun -N 1 -n 1 -w "$node" bash -c 'echo "node $SLURM_NODEID"' >"on-$node" &
done
wait
cat on-* | wc -l
""",
    "moment-of-expansion": """#!/bin/bash
#SBATCH --ntasks=2 --partition=cpu
srun bash -c "echo batch $SLURM_PROCID" | sort
srun bash -c 'echo task $SLURM_PROCID' | sort
""",
    "array": """#!/bin/bash
#SBATCH --array=1-5:2%2
#SBATCH --partition=cpu --output=out-%a.txt
echo "$SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT, $SLURM_ARRAY_TASK_MIN-$SLURM_ARRAY_TASK_MAX"
""",
    "array-that-fails": """#!/bin/bash
#SBATCH --array=0-2
#SBATCH --partition=cpu --output=/dev/null
touch "ran-$SLURM_ARRAY_TASK_ID"
exit $SLURM_ARRAY_TASK_ID
""",
    "names-and-files": """#!/bin/bash
#SBATCH --job-name=my_job --ntasks=1
#SBATCH --output=logs-%x-%u.out --error=err.txt --open-mode=truncate
#SBATCH --partition=cpu
echo "$SLURM_JOB_NAME"
echo oops >&2
""",
    "default-output": """#!/bin/bash
#SBATCH --ntasks=2 --partition=cpu
echo hello
""",
    "input-file": """#!/bin/sh
#SBATCH --input=job.sh --output=out.txt --partition=cpu
wc -l
""",
    "no-input": """#!/bin/bash
#SBATCH --ntasks=2 --output=out.txt --partition=cpu
cat; echo "read nothing"
""",
    "folder": """#!/bin/bash
#SBATCH --ntasks=2 --chdir=sub --output=here.txt --partition=cpu
echo "$(basename "$PWD") $(basename "$SLURM_SUBMIT_DIR")"
touch made
""",
    "own-path": """#!/bin/bash
#SBATCH --output=out.txt --partition=cpu
basename "$0"
test -r "$0" && wc -l <"$0"
head -n 3 "$0" | tail -n 1
""",
    "exit-code": """#!/bin/bash
#SBATCH --ntasks=2 --partition=cpu --output=out.txt
echo before
exit 7
""",
    "failing-step": """#!/bin/bash -e
#SBATCH --ntasks=2 --partition=cpu --output=out.txt
echo before
srun bash -c 'exit 3' 2>/dev/null
echo never
""",
    "python": """#!/usr/bin/env python3
#SBATCH --partition=cpu --output=out.txt
import os, sys
print(sys.argv[1:], os.path.basename(sys.argv[0]), os.environ["SLURM_NTASKS_PER_NODE"]
      if "SLURM_NTASKS_PER_NODE" in os.environ else None)
""",
    "shell": """#!/bin/sh -u
#SBATCH --partition=cpu --output=out.txt
echo "${SLURM_JOB_NUM_NODES} $-" | tr -d s
""",
    "login-shell": """#!/bin/bash -l
#SBATCH --partition=cpu --output=out.txt
shopt -q login_shell && echo login
""",
    "signal-to-the-batch-shell": """#!/bin/bash
#SBATCH --partition=cpu --output=out.txt --signal=B:USR1@10
trap 'echo "got it"; exit 9' USR1
sleep 20 &
(sleep 1; scancel --batch --signal=USR1 "$SLURM_JOB_ID") &
wait
echo "not reached"
""",
    "signal-to-everything": """#!/bin/bash
#SBATCH --partition=cpu --output=out.txt --requeue
trap 'echo "once"' USR2
(trap '' USR2; sleep 1; exec scancel --full --signal=USR2 "$SLURM_JOB_ID") &
for _ in 1 2 3 4 5 6 7 8; do sleep 0.5; done 2>/dev/null
echo done
""",
    "requeue": """#!/bin/bash
#SBATCH --partition=cpu --output=out.txt --requeue --open-mode=append
echo "start ${SLURM_RESTART_COUNT:-0}"
if [ -z "$SLURM_RESTART_COUNT" ]; then
    scontrol requeue "$SLURM_JOB_ID"
    sleep 30
fi
""",
    "chain": """#!/bin/bash
#SBATCH --partition=cpu --output=/dev/null
echo "link" >>links
[ "$(wc -l <links)" -ge 2 ] || sbatch --wait --output=/dev/null job.sh >/dev/null
""",
    "environment-chosen": """#!/bin/bash
#SBATCH --export=ONLY=this --partition=cpu --output=out.txt
echo "$ONLY ${HOME:+home}"
""",
    "gpus": """#!/bin/bash
#SBATCH --gres=gpu:2 --partition=gpu --constraint=h100 --output=out.txt
echo "$SLURM_GPUS_ON_NODE ${#CUDA_VISIBLE_DEVICES}"
""",
    "gpu-type": """#!/bin/bash
#SBATCH --gres=gpu:a100:1 --ntasks=2 --partition=gpu --output=out.txt
echo "$SLURM_GPUS_ON_NODE $(srun hostname | sort -u)"
""",
    "here-documents": """#!/bin/bash
#SBATCH --ntasks=2 --partition=cpu --output=out.txt
cat >file <<'EOF'
TRIPLANE_0
 $HOME `date` \\ 'q' "d"\t
EOF
cat file
echo $'\\x41'
""",
    "other-encoding": b"""#!/bin/bash
#SBATCH --ntasks=2 --partition=cpu --output=out.txt
echo caf\xe9 | od -An -tx1
""",
    "background": """#!/bin/bash
#SBATCH --ntasks=2 --partition=cpu --output=out.txt
(sleep 0.3; echo later) &
echo first
wait $!
echo "$?"
""",
    "descriptors": """#!/bin/bash
#SBATCH --ntasks=2 --partition=cpu --output=out.txt
ls /proc/self/fd | sort -n | tr '\\n' ' '
[ "$SLURM_TASK_PID" = "$$" ] && echo same
ulimit -c
umask
""",
}
ARGUMENTS = ("one", "two words", "$HOME '\"", "")
"""What stands behind each script's name."""
