set -e
neuron-ls
torchrun --nproc-per-node=32 finetune.py --model "$MODEL"
