"""A training loop on every node of the Ray cluster."""

import os

import ray


@ray.remote(num_gpus=1)
def step(number: int) -> str:
    return f"step {number} on {os.uname().nodename}"


ray.init(address="auto")
nodes = int(os.environ["SKYPILOT_NUM_NODES"])
for line in ray.get([step.remote(number) for number in range(nodes)]):
    print(line)
