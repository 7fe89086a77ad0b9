"""`image_id`: a container image, a machine image, or machine images by region."""

from __future__ import annotations

from compiler.diagnostics.codes import model_resources as codes
from compiler.model.builder import Builder, shown
from compiler.model.resources import Image, Infra
from compiler.source.paths import Path
from compiler.source.wording import described

CONTAINER_PREFIX = "docker:"
_CATALOGUE_PREFIX = "skypilot:"
# Where an image can be nothing else than a container's.
_PODS = frozenset({"kubernetes", "ssh"})
_BEST_WITH_MACHINE_IMAGE = frozenset({"gcp", "nebius"})


def build_image(
    b: Builder, path: Path, value: object, infra: Infra, network_tier: str | None
) -> Image | None:
    """Read `image_id` for a candidate that goes to `infra`."""
    if value is None:
        return None
    if isinstance(value, str):
        image = _one(b, path, value.strip(), infra)
    elif isinstance(value, dict):
        image = _by_region(b, path, value, infra)
    else:
        b.unexpected(path, value, "an image, or a map from region to image")
        return None
    if (
        image is not None
        and network_tier == "best"
        and image.docker is None
        and infra.cloud not in _BEST_WITH_MACHINE_IMAGE
    ):
        b.report(
            codes.IMAGE_WITH_NETWORK_TIER,
            path,
            "a machine image of your own cannot go with `network_tier: best`",
            found=described(value),
            hint=f'use a container image: "{CONTAINER_PREFIX}..."',
        )
    return image


def _one(b: Builder, path: Path, text: str, infra: Infra) -> Image | None:
    name = text.removeprefix(CONTAINER_PREFIX).strip()
    if not name:
        b.report(
            codes.IMAGE_VALUE,
            path,
            f"{shown(text)} names no image",
            expected=f"{CONTAINER_PREFIX}<image>",
        )
        return None
    if text.startswith(CONTAINER_PREFIX):
        return Image(docker=name)
    if infra.cloud is None:
        b.report(
            codes.IMAGE_NEEDS_CLOUD,
            path,
            f"{shown(text)} means another image on each cloud",
            hint=f"name the cloud in `infra`, or write `{CONTAINER_PREFIX}{text}` "
            "if it is a container image",
        )
        return None
    if infra.cloud in _PODS and not text.startswith(_CATALOGUE_PREFIX):
        return Image(docker=text)
    if infra.cloud == "slurm":
        b.report(
            codes.IMAGE_VALUE,
            path,
            f"{shown(text)} is no container image",
            expected=f"{CONTAINER_PREFIX}<image>, as Slurm has no other images",
            hint=f"write `{CONTAINER_PREFIX}{text}`",
        )
        return None
    of_catalogue = text.startswith(_CATALOGUE_PREFIX)
    if infra.cloud == "aws" and infra.region is None and infra.zone is None and not of_catalogue:
        b.report(
            codes.IMAGE_NEEDS_REGION,
            path,
            f"{shown(text)} exists in one region only",
            hint="name the region, `infra: aws/us-east-1`, or give a map from region to image",
        )
    return Image(machine=text)


def _by_region(b: Builder, path: Path, entries: dict[str, object], infra: Infra) -> Image | None:
    docker: str | None = None
    machines: dict[str, str] = {}
    for written, given in entries.items():
        where = (*path, written)
        key, value = written.strip(), given.strip() if isinstance(given, str) else given
        if not isinstance(value, str) or not value:
            b.unexpected(where, given, "an image")
        elif key == "docker":
            docker = value.removeprefix(CONTAINER_PREFIX)
        elif value.startswith(CONTAINER_PREFIX):
            b.report(
                codes.IMAGE_VALUE,
                where,
                "a container image has no region",
                found=described(value),
                expected="a machine image",
                hint="give it once, under the key `docker`",
            )
        else:
            machines[key] = value
    region = infra.region
    if infra.cloud == "aws" and region is None and infra.zone is not None:
        region = infra.zone[:-1]
    if machines and region is not None and region not in machines:
        b.report(
            codes.IMAGE_REGION,
            path,
            f"there is no image for the region {region}",
            found="images for " + ", ".join(machines),
            hint=f"add `{region}: ...`, or choose another region",
        )
    if docker is None and not machines:
        return None
    return Image(docker=docker, by_region=machines)
