"""Asks the real SkyPilot 0.14.1 about YAML texts. Runs in SkyPilot's own environment alone.

Reads JSON lines from standard input, each `{"id", "text", "kind", "env"}` (`kind` is "task",
"volume", "layers" or "scope", `env` has values for variables, as `--env` gives them), and prints
one JSON line for each: `{"id", "ok", "stage", "error", "meaning"}`. `stage` is "load"
(its loader) or "validate" (`Task.validate()`), whichever refused.

What SkyPilot would look up outside of the text is answered here, so that the answer is about
the dialect alone: every file, region, context, cluster, instance type and image exists, AWS,
Kubernetes and Slurm are enabled, and devices have the memory of `MEMORY`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from unittest import mock

os.environ["SKYPILOT_DISABLE_USAGE_COLLECTION"] = "1"
os.environ["SKYPILOT_MINIMIZE_LOGGING"] = "1"

from meaning import dag_meaning, volume_meaning
from sky import catalog, check, clouds, resources, skypilot_config, task
from sky.clouds import aws, kubernetes, slurm
from sky.utils import (
    accelerator_registry,
    common_utils,
    config_utils,
    dag_utils,
    yaml_utils,
)
from sky.volumes import volume

MEMORY = {
    "A10G": 24.0,
    "A100": 40.0,
    "A100-80GB": 80.0,
    "H100": 80.0,
    "L4": 24.0,
    "L40S": 48.0,
    "RTX3080": 10.0,
    "T4": 16.0,
    "V100": 16.0,
}


def by_memory(memory, plus=False, manufacturer=None):
    if manufacturer is not None and manufacturer.lower() != "nvidia":
        return []
    return [name for name, gb in MEMORY.items() if gb == memory or (plus and gb > memory)]


def kubernetes_place(self, region, zone):
    if zone is not None:
        raise ValueError("Kubernetes support does not support setting zone.")
    return region, zone


def slurm_place(self, region, zone):
    if zone is not None and region is None:
        raise ValueError("a partition needs its cluster")
    return region, zone


def aws_place(self, region, zone):
    return region or zone[:-1], zone


def elsewhere(self, region, zone):
    return region, zone


def machine_exists(instance_type, clouds=None):
    return clouds not in ("kubernetes", "slurm")


class EveryFile:
    """The module `os`, in whose world every path is a file and a folder."""

    def __getattr__(self, name):
        return getattr(os, name)

    class path:
        abspath, expanduser = os.path.abspath, os.path.expanduser
        exists = isdir = staticmethod(lambda path: True)


_set_place = resources.Resources._try_validate_and_set_region_zone


def set_place(self):
    """Which cloud a region belongs to is a matter of what is enabled, not of the text."""
    if self._cloud is not None:
        _set_place(self)


@contextlib.contextmanager
def known_world():
    """Everything that lies outside of the text exists."""
    everywhere = [clouds.AWS(), clouds.Kubernetes(), clouds.Slurm()]
    patches = [
        mock.patch.object(
            check, "get_cached_enabled_clouds_or_refresh", lambda *a, **k: everywhere
        ),
        mock.patch.object(
            accelerator_registry, "canonicalize_accelerator_name", lambda name, cloud=None: name
        ),
        mock.patch.object(accelerator_registry, "get_devices_by_memory", by_memory),
        mock.patch.object(kubernetes.Kubernetes, "validate_region_zone", kubernetes_place),
        mock.patch.object(resources.Resources, "_try_validate_and_set_region_zone", set_place),
        mock.patch.object(slurm.Slurm, "validate_region_zone", slurm_place),
        mock.patch.object(aws.AWS, "validate_region_zone", aws_place),
        mock.patch.object(clouds.Cloud, "validate_region_zone", elsewhere),
        mock.patch.object(catalog, "instance_type_exists", machine_exists),
        mock.patch.object(catalog, "is_image_tag_valid", lambda *a, **k: True),
        mock.patch.object(
            catalog, "validate_region_zone", lambda region, zone, clouds=None: (region, zone)
        ),
        mock.patch.object(slurm.Slurm, "_unsupported_features_for_resources", slurm_features),
        mock.patch.object(kubernetes.Kubernetes, "get_image_size", lambda *a, **k: 0),
        mock.patch.object(aws.AWS, "get_image_size", lambda *a, **k: 0),
        mock.patch.object(aws.AWS, "is_image_tag_valid", lambda *a, **k: True),
        mock.patch.object(kubernetes.Kubernetes, "is_image_tag_valid", lambda *a, **k: True),
        mock.patch.object(resources.annotations, "is_on_api_server", True),
        mock.patch.object(kubernetes.Kubernetes, "_unsupported_features_for_resources", pods),
        mock.patch.object(catalog, "get_accelerators_from_instance_type", lambda *a, **k: None),
        mock.patch.object(resources.Resources, "_try_validate_cpus_mem", lambda self: None),
        mock.patch.object(
            catalog, "get_local_disk_from_instance_type", lambda *a, **k: "nvme:99999"
        ),
        mock.patch.object(catalog, "get_image_id_from_tag", lambda *a, **k: "image"),
        mock.patch.object(common_utils, "get_git_commit", lambda *a, **k: None),
        mock.patch.object(task, "os", EveryFile()),
    ]
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield


@classmethod
def pods(cls, resources, region=None):
    """As on a cluster with spot nodes and a fast network."""
    kept = (clouds.CloudImplementationFeatures.LOCAL_DISK, clouds.CloudImplementationFeatures.STOP)
    return {name: why for name, why in cls._CLOUD_UNSUPPORTED_FEATURES.items() if name in kept}


@classmethod
def slurm_features(cls, resources, region=None):
    """As on a cluster with Pyxis."""
    missing = dict(cls._CLOUD_UNSUPPORTED_FEATURES)
    missing.pop(clouds.CloudImplementationFeatures.DOCKER_IMAGE, None)
    return missing


def ask(text, kind, env):
    stage = "load"
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        try:
            with known_world():
                if kind == "layers":
                    return True, None, None, merged(json.loads(text))
                if kind == "scope":
                    return True, None, None, {"value": value_in_scope(**json.loads(text))}
                if kind == "volume":
                    return True, None, None, volume_meaning(load_volume(file.name))
                dag = dag_utils.load_dag_from_yaml(file.name, env_overrides=env or None)
                meaning = dag_meaning(dag)
                stage = "validate"
                for one in dag.tasks:
                    one.validate()
            return True, None, None, meaning
        except RecursionError:
            return False, stage, "RecursionError", None
        except Exception as error:  # noqa: BLE001 (whatever it raises is a refusal)
            return False, stage, f"{type(error).__name__}: {error}", None


def merged(layers):
    """Layers of configuration, low to high, as one."""
    result = None
    for layer in layers:
        result = skypilot_config.overlay_skypilot_config(result, config_utils.Config(layer))
    return dict(result)


def value_in_scope(config, cloud, key, region, workspace, task):
    """What holds for a task of a workspace in a region, as the code that uses the key asks."""
    ask_for = skypilot_config.get_effective_region_config
    more = {}
    if key in ("namespace", "kueue", "quota"):
        ask_for = skypilot_config.get_effective_workspace_region_config
        more["workspace"] = workspace
    loaded = config_utils.Config(config)
    with mock.patch.object(skypilot_config, "_get_loaded_config", lambda: loaded):
        return ask_for(cloud, (key,), region, None, override_configs=task, **more)


def load_volume(path):
    """What `sky volumes apply` does before it asks the server."""
    config = yaml_utils.read_yaml(path)
    made = volume.Volume.from_yaml_config(config)
    made.validate()
    return made


def plain(value):
    """With texts for the keys that JSON cannot have (dates)."""
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        request = json.loads(line)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            ok, stage, error, meaning = ask(
                request["text"], request.get("kind", "task"), list(request.get("env", {}).items())
            )
        answer = {"id": request["id"], "ok": ok, "stage": stage, "error": error}
        answer["meaning"] = plain(meaning)
        print(json.dumps(answer, default=str), file=out, flush=True)


if __name__ == "__main__":
    main()
