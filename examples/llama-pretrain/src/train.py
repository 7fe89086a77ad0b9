"""Pre-trains a Llama model from scratch on streamed text; started by torchrun on every node."""

import argparse
import os

import torch
import torch.distributed as dist
from datasets import load_dataset
from torch.distributed.fsdp import fully_shard
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

MODELS = {"llama-3.1-8b": "meta-llama/Llama-3.1-8B"}


def batches(tokenizer, length, per_rank, rank, world):
    """Endless batches of token ids, shape (per_rank, length), each rank its own shard."""
    stream = load_dataset("HuggingFaceFW/fineweb-edu", split="train", streaming=True)
    tokens = []
    for row in stream.shard(num_shards=world, index=rank):
        tokens.extend(tokenizer(row["text"]).input_ids)
        while len(tokens) >= per_rank * length:
            chunk, tokens = tokens[: per_rank * length], tokens[per_rank * length :]
            yield torch.tensor(chunk, device="cuda").view(per_rank, length)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--sequence-length", type=int, required=True)
    parser.add_argument("--global-batch-size", type=int, required=True)
    parser.add_argument("--learning-rate", type=float, required=True)
    parser.add_argument("--max-steps", type=int, required=True)
    options = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    tokenizer = AutoTokenizer.from_pretrained(MODELS[options.model])
    config = AutoConfig.from_pretrained(MODELS[options.model])
    model = AutoModelForCausalLM.from_config(config, torch_dtype=torch.bfloat16).cuda()
    for layer in model.model.layers:
        fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, fused=True)

    per_rank = max(1, options.global_batch_size // world)
    data = batches(tokenizer, options.sequence_length, per_rank, rank, world)
    for step, batch in zip(range(1, options.max_steps + 1), data, strict=False):
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
