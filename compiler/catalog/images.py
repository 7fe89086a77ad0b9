"""Public machine images of AWS, by the SSM parameter that names the newest one.

The AWS CLI is part of the Deep Learning AMIs (`gpu`, `neuron`) and not of Ubuntu's own images
(`cpu`); the boot script installs it where it is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from compiler.catalog.accelerators import DATA, Family, family
from compiler.catalog.aws import InstanceType

# Older than the open kernel modules that the public GPU images come with.
_NEEDS_PROPRIETARY_DRIVER = ("V100", "V100-32GB", "P100", "P40", "P4", "M60", "K80")
# The Neuron driver of the public images no longer serves the first Inferentia.
_NEEDS_OLD_NEURON_DRIVER = ("Inferentia",)


@dataclass(frozen=True, slots=True)
class PublicImage:
    """`parameter` is a public SSM parameter that holds an AMI id in every region."""

    purpose: str
    arch: str
    parameter: str
    root_device: str


@cache
def _images() -> dict[tuple[str, str], PublicImage]:
    lines = (DATA / "aws_images.csv").read_text(encoding="utf-8").splitlines()[1:]
    rows = (PublicImage(*line.split(",")) for line in lines)
    return {(row.purpose, row.arch): row for row in rows}


def image_purpose(instance: InstanceType) -> str:
    """`cpu`, `gpu` or `neuron` by the instance's accelerator; `other` for rarer ones."""
    if instance.accelerator is None:
        return "cpu"
    match family(instance.accelerator):
        case Family.NVIDIA:
            return "gpu"
        case Family.NEURON:
            return "neuron"
    return "other"


def public_image(instance: InstanceType) -> PublicImage | None:
    """The image that has the instance's drivers, None where AWS publishes none."""
    if instance.accelerator in _NEEDS_PROPRIETARY_DRIVER + _NEEDS_OLD_NEURON_DRIVER:
        return None
    if 0 < instance.accelerator_count < 1:  # a share of a GPU needs the GRID driver
        return None
    return _images().get((image_purpose(instance), instance.arch))
