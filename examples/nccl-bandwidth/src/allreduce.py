"""Bus bandwidth of an all-reduce by message size, as nccl-tests defines it."""

import os
import time

import torch
import torch.distributed as dist

ROUNDS = 20


def seconds(tensor: torch.Tensor) -> float:
    """Time of one all-reduce, over ROUNDS of them."""
    for _ in range(3):
        dist.all_reduce(tensor)
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(ROUNDS):
        dist.all_reduce(tensor)
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / ROUNDS


def main() -> None:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    ranks = dist.get_world_size()
    for power in range(20, 33, 2):
        size = 2**power
        tensor = torch.ones(size // 2, dtype=torch.bfloat16, device="cuda")
        # Each byte crosses the slowest link 2(n-1)/n times.
        bandwidth = size / seconds(tensor) * 2 * (ranks - 1) / ranks
        if dist.get_rank() == 0:
            print(f"{size / 2**20:8.0f} MiB  {bandwidth / 1e9:7.1f} GB/s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
