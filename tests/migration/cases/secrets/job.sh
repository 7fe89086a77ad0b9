#!/bin/bash
#SBATCH --time=10
# old key: export WANDB_API_KEY=aaaabbbbccccddddeeeeffff0000111122223333
export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567
export GREETING="token hf_abcdefghijklmnopqrstuvwxyz012345 here"
curl -H 'Authorization: Bearer hf_abcdefghijklmnopqrstuvwxyz012345' https://example.org
python train.py --api-key S3cr3tV4lue99 --password=hunter2hunter2
