"""Which machine image a node boots from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.catalog import InstanceType, NoChoice
from compiler.catalog.images import image_purpose, public_image
from compiler.diagnostics.codes import aws as codes
from compiler.model import Resources
from compiler.targets.aws.instances import wants_efa
from compiler.targets.aws.options import AwsOptions

_AMI = re.compile(r"ami-[0-9a-f]{8,17}")


@dataclass(frozen=True, slots=True)
class MachineImage:
    """Exactly one of `ami` and `parameter` (an SSM parameter that holds an AMI id).

    `root_device` is None where it has to be looked up.
    """

    ami: str | None = None
    parameter: str | None = None
    root_device: str | None = None


def choose_image(
    resources: Resources, instance: InstanceType, options: AwsOptions
) -> MachineImage | NoChoice:
    """The task's own image for the region, else the target's for the purpose, else AWS's."""
    image = resources.image
    if image is not None and image.by_region and options.region not in image.by_region:
        return NoChoice(
            codes.IMAGE_REGION,
            "image_id",
            f"`image_id` names no image for {options.region}",
            f"it names images for {', '.join(sorted(image.by_region))}",
        )
    own = None
    if image is not None:
        own = image.by_region.get(options.region) or image.machine
    if own is not None:
        if not _AMI.fullmatch(own):
            return NoChoice(
                codes.IMAGE_UNKNOWN,
                "image_id",
                f"`{own}` is neither an AMI id nor a container image",
                "write `ami-...`, or `docker:<image>` for a container",
            )
        return MachineImage(ami=own)
    if configured := _configured(resources, instance, options):
        if _AMI.fullmatch(configured):
            return MachineImage(ami=configured)
        return MachineImage(parameter=configured)
    public = public_image(instance)
    if public is None:
        return NoChoice(
            codes.IMAGE_UNKNOWN,
            "image_id" if "image_id" in resources.given else "accelerators",
            f"AWS publishes no image with drivers for {instance.name} ({instance.accelerator})",
            f"`image_id: ami-...`, or `amis: {{{instance.family}: ami-...}}` in the stack's target",
        )
    return MachineImage(parameter=public.parameter, root_device=public.root_device)


def _configured(resources: Resources, instance: InstanceType, options: AwsOptions) -> str | None:
    """The target's image for the family, else for EFA, else for the kind of hardware."""
    purposes = [instance.family, image_purpose(instance)]
    if wants_efa(resources):
        purposes.insert(1, "efa")
    suffix = "-arm64" if instance.arch == "arm64" else ""
    found = (options.amis.get(f"{purpose}{suffix}") for purpose in purposes)
    return next(filter(None, found), None)
