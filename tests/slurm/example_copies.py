"""The examples as they can run on a cluster without accelerators, images and the internet.

A copy of each, in which every task asks for one CPU and no accelerator, volumes are a folder of
the cluster, and `infra` is the site; what a task says and does is as it stands in the repository.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.command_line import TOP

MOST_NODES = 3
"""Of one partition of the site."""
PARTITIONS = {"sandbox": "cpu", "evaluation": "cpu", "dev-node": "cpu"}
"""Of tasks that stand beside others: one wants whole nodes, and components of a group never
share one."""


_VOLUMES = ("/shared/policy", "/checkpoints")
"""Where examples mount volumes: no user of the site could put anything there."""


def copy_of_examples(folder: Path, shared: Path) -> list[str]:
    """Write the copies below `folder`; `shared` is the folder that stands for volumes.

    Returns the paths of the works' files below `folder`, sorted.
    """
    shutil.copytree(TOP / "examples", folder / "examples")
    paths = []
    for path in sorted((folder / "examples").glob("*/*.yaml")):
        documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
        if "type" in documents[0]:  # a volume
            path.unlink()
            continue
        text = yaml.safe_dump_all(
            [_on_cpus(item, shared) for item in documents], sort_keys=False, width=1000
        )
        for place in _VOLUMES:
            text = text.replace(place, str(shared))
        path.write_text(text, encoding="utf-8")
        paths.append(path.relative_to(folder).as_posix())
    return paths


def _on_cpus(document: dict[str, Any], shared: Path) -> dict[str, Any]:
    made = dict(document)
    made.pop("service", None)
    if "resources" in made:
        partition = PARTITIONS.get(made["name"], "gpu")
        made["resources"] = {"infra": f"slurm/alpha/{partition}", "cpus": 1, "memory": 1}
    if made.get("num_nodes", 1) > MOST_NODES:
        made["num_nodes"] = MOST_NODES
    if "volumes" in made:
        place = {"host_path": str(shared), "mode": "rw"}
        made["volumes"] = dict.fromkeys(made["volumes"], place)
    if "kubernetes" in made.get("config", {}):
        del made["config"]
    return made
