"""Generated tasks: all different, rich in structure, and without a finding on their target.

Six shapes such as people keep in a repository, each varied by the number of the task: names,
sizes, variables, lengths of texts, which sections there are, block and flow style.
"""

from __future__ import annotations

from bench.shapes import SHAPES

KINDS = ("kubernetes", "slurm", "aws")

_STACKS = {
    "kubernetes": (
        '{kind: kubernetes, version: "1.34", labels: gfd, namespace: research,'
        " queue: {kind: kueue, name: research}}"
    ),
    "slurm": '{kind: slurm, version: "23.11", workdir: /shared/triplane, containers: pyxis}',
    "aws": "{kind: aws, region: us-east-1, files: {bucket: s3://triplane-bench},"
    " subnets: [subnet-0a1b2c3d4e5f60718]}",
}
_SECRETS = {
    "kubernetes": "{secret: hf/token}",
    "slurm": "{file: ~/.config/hf_token}",
    "aws": "{ssm: /bench/hf_token}",
}


def stack(kind: str) -> str:
    """The text of a stack with one target of that kind, called `here`."""
    return (
        "set: {name: bench}\n"
        f"targets:\n  here: {_STACKS[kind]}\n"
        f"secrets:\n  HF_TOKEN: {{here: {_SECRETS[kind]}}}\n"
    )


def document(number: int, kind: str) -> str:
    """The text of task `number` for a target of that kind, unlike that of every other number."""
    return SHAPES[number % len(SHAPES)](number, kind)
