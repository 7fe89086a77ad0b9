"""AWS on this machine: moto's server for its API, the stand-in under the real Pulumi engine.

`AwsSite` is one account with one bucket; `Set` a folder with a stack and its tasks, planned and
applied through the library as a user would.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.aws.standin.world import World
from tests.kubernetes_site import build

TOP = Path(__file__).parent.parent.parent
REGION = "us-east-1"
BUCKET = "lab-runs"
_PROVIDER = "pulumi-resource-aws"


def missing() -> list[str]:
    """What these tests need and this machine has not."""
    packages = [name for name in ("boto3", "moto", "flask", "flask_cors") if not find_spec(name)]
    found = [f"the Python package {name}" for name in packages]
    if build.binary("pulumi") is None:
        found.append("the pulumi command (python -m tests.kubernetes_site install)")
    return found


@contextmanager
def api() -> Iterator[str]:
    """The endpoint of a fresh moto server."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@dataclass
class AwsSite:
    """`folder` holds the stand-in's world, Pulumi's state and its home."""

    folder: Path
    endpoint: str
    world: World = field(init=False)

    def __post_init__(self) -> None:
        for name in ("world", "bin", "state", "home"):
            (self.folder / name).mkdir(parents=True)
        self.world = World(self.folder / "world")
        provider = self.folder / "bin" / _PROVIDER
        provider.write_text(
            f"#!/bin/sh\nexport PYTHONPATH={TOP}\n"
            f'exec {sys.executable} -m tests.aws.standin.provider "$@"\n'
        )
        provider.chmod(0o755)

    @property
    def variables(self) -> dict[str, str]:
        pulumi = build.binary("pulumi")
        assert pulumi is not None
        return {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_STANDIN": str(self.world.folder),
            "PATH": f"{self.folder / 'bin'}:{pulumi.parent}:{os.environ['PATH']}",
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_HOME": str(self.folder / "home"),
        }

    def client(self, service: str):
        import boto3

        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )

    def make_bucket(self) -> None:
        """A fresh account with an empty bucket."""
        import urllib.request

        urllib.request.urlopen(
            urllib.request.Request(f"{self.endpoint}/moto-api/reset", method="POST")
        ).close()
        self.client("s3").create_bucket(Bucket=BUCKET)

    def objects(self) -> dict[str, bytes]:
        s3 = self.client("s3")
        keys = [item["Key"] for item in s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())]
        return {key: s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}

    def instances(self, *states: str) -> list[dict[str, Any]]:
        """Those in one of the states (default: running)."""
        wanted = states or ("running",)
        answer = self.client("ec2").describe_instances()
        return [
            item
            for reservation in answer["Reservations"]
            for item in reservation["Instances"]
            if item["State"]["Name"] in wanted
        ]

    def say(self, name: str, values: Mapping[str, object]) -> None:
        """Sets faults, slow or answers of the stand-in (world.py)."""
        (self.world.folder / f"{name}.json").write_text(json.dumps(values))

    def outcome(self, run: str, text: str | None = None, **body: object) -> None:
        """What the last rank of a run writes; by default that it succeeded."""
        values = {"outcome": "succeeded", "exit_code": 0, "rank": 0, "phase": "run", **body}
        self.client("s3").put_object(
            Bucket=BUCKET,
            Key=f".triplane/lab/runs/{REGION}/{run}/outcome.json",
            Body=(text or json.dumps(values)).encode(),
        )

    def pulumi_state(self) -> dict[str, Any]:
        """The stack's checkpoint, {} without one."""
        for path in (self.folder / "state").rglob("stacks/**/lab.json"):
            return json.loads(path.read_text())
        return {}

    def texts(self) -> str:
        """Everything that the engine has written anywhere, for a search for secrets."""
        parts = []
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and "world" not in path.parts:
                parts.append(path.read_text(errors="replace"))
        return "\n".join(parts)


class Set:
    """A stack with one AWS target, and the tasks of its set."""

    def __init__(self, folder: Path, **target: object) -> None:
        self.folder = folder
        (folder / "tasks").mkdir(parents=True)
        import yaml

        body = {
            "set": {"name": "lab", "inputs": ["tasks/"]},
            "root": ".",
            "targets": {
                REGION: {
                    "kind": "aws",
                    "deployer": "pulumi",
                    "files": {"bucket": f"s3://{BUCKET}"},
                    **target,
                }
            },
        }
        self.stack_file = folder / "stack.yaml"
        self.stack_file.write_text(yaml.safe_dump(body))

    def task(self, name: str, text: str) -> None:
        (self.folder / "tasks" / f"{name}.yaml").write_text(text)

    def remove(self, name: str) -> None:
        (self.folder / "tasks" / f"{name}.yaml").unlink()

    def stack(self):
        from compiler.diagnostics import Diagnostics
        from compiler.workflow import load_stack

        diagnostics = Diagnostics()
        stack = load_stack(str(self.stack_file), diagnostics)
        diagnostics.raise_if_errors()
        return stack

    def plan(self, paths: tuple[str, ...] = (), **options: object):
        from compiler.workflow import PlanOptions, plan

        return plan(list(paths), self.stack(), options=PlanOptions(**options))

    def apply(self, planned=None, progress=lambda _: None, **options: object):
        """Plans (unless that was done), goes through a saved plan, and applies it."""
        from compiler.planning.plan_file import from_json, to_json
        from compiler.workflow import apply_plan, secrets_for

        planned = planned or self.plan(**options)
        stack = self.stack()
        saved = from_json(to_json(planned.plan))
        return apply_plan(saved, stack, secrets_for(planned, stack), progress)

    def status(self) -> dict[str, str]:
        """`<work>.<run>` -> its state."""
        from compiler.workflow import status

        return {f"{run.work}.{run.run}": str(run.state) for run in status(self.stack()).runs}

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
