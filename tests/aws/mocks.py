"""Running a rendered project under Pulumi's real SDK, with the engine played by mocks.

`run_project` executes the folder's own `__main__.py` and returns what it registered. The
order in which registrations arrive is not stable, so everything comes back sorted.
"""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from compiler.rendering.artifact import Artifact

AMI = "ami-0123456789abcdef0"
ACCOUNT = "123456789012"
_PROJECT_MODULES = ("common", "volumes", "workloads")


@dataclass(frozen=True)
class Registered:
    """One resource: its type, name, inputs in camel case, and the options of its registration."""

    type: str
    name: str
    inputs: Mapping[str, object]
    ignore_changes: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    is_protected: bool = False


@dataclass
class Project:
    """`resources` sorted by type and name, `calls` (token, arguments) sorted, `outputs`."""

    resources: list[Registered] = field(default_factory=list)
    calls: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    outputs: Mapping[str, object] = field(default_factory=dict)

    def of(self, kind: str) -> list[Registered]:
        """All resources whose type ends with `kind`, such as `Instance`."""
        return [item for item in self.resources if item.type.endswith(f":{kind}")]

    def one(self, kind: str) -> Registered:
        (found,) = self.of(kind)
        return found

    def to_json(self) -> str:
        body = [
            {"type": item.type, "name": item.name, "inputs": item.inputs} for item in self.resources
        ]
        return json.dumps([body, self.calls, self.outputs], sort_keys=True)


def write_project(folder: Path, artifacts: Iterable[Artifact]) -> Path:
    """Write the artifacts of one target; returns the folder of its project."""
    root = folder
    for artifact in artifacts:
        path = folder / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(artifact.text.encode())
        root = folder / "/".join(artifact.path.split("/")[:2])
    return root


def run_project(
    folder: Path, config: Mapping[str, str] | None = None, stack: str = "llama"
) -> Project:
    """Execute `__main__.py` of a rendered folder; config keys as in `triplane:finished`."""
    import pulumi
    import pulumi_aws
    from pulumi.runtime import mocks, settings
    from pulumi.runtime.stack import run_pulumi_func

    # The SDK's lazy modules are not safe to load from several threads at once.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of resources that nobody uses
        _ = (
            pulumi_aws.ebs.Volume,
            pulumi_aws.ec2.Instance,
            pulumi_aws.efs.FileSystem,
            pulumi_aws.fsx.LustreFileSystem,
            pulumi_aws.iam.Role,
            pulumi_aws.s3.BucketObjectv2,
            pulumi_aws.ssm.get_parameter_output,
            pulumi_aws.vpc.SecurityGroupIngressRule,
        )

    project = Project()

    class Monitor(mocks.MockMonitor):
        def RegisterResource(self, request):  # the gRPC method's own name
            if request.custom:
                options[request.type, request.name] = (
                    tuple(request.ignoreChanges),
                    tuple(sorted(urn.rpartition("::")[2] for urn in request.dependencies)),
                    request.protect,
                )
            return super().RegisterResource(request)

    class Answers(mocks.Mocks):
        def new_resource(self, args):
            if args.custom and not args.resource_id:  # else it holds others, or is there already
                registered.append((args.typ, args.name, dict(args.inputs)))
            return f"{args.name}-id", _outputs(args)

        def call(self, args):
            project.calls.append((args.token, dict(args.args)))
            return _answer(args.token, args.args)

    options: dict = {}
    registered: list = []
    with _fresh_process_state(folder):
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            # What a failed or earlier run left behind would hang this one or leak into it.
            settings.SETTINGS.rpc_manager.clear()
            settings.SETTINGS.outputs.clear()
            settings.set_root_resource(None)
            answers = Answers()
            pulumi.runtime.set_mocks(
                answers, project="triplane", stack=stack, preview=False, monitor=Monitor(answers)
            )
            pulumi.runtime.set_all_config({"aws:region": "us-east-1", **(config or {})})
            loop.run_until_complete(
                run_pulumi_func(lambda: runpy.run_path(str(folder / "__main__.py")))
            )
            root = settings.get_root_resource()
            if root is not None and root.outputs:
                future = pulumi.Output.all(**root.outputs).future()
                project.outputs = loop.run_until_complete(future)
        finally:
            loop.close()
            asyncio.set_event_loop(None)
    project.resources = sorted(
        (
            Registered(kind, name, inputs, *options.get((kind, name), ()))
            for kind, name, inputs in registered
        ),
        key=lambda item: (item.type, item.name),
    )
    project.calls.sort(key=lambda call: json.dumps(call, sort_keys=True))
    return project


@contextmanager
def _fresh_process_state(folder: Path) -> Iterator[None]:
    def forget() -> None:
        for name in [name for name in sys.modules if name.split(".")[0] in _PROJECT_MODULES]:
            del sys.modules[name]

    forget()
    sys.path.insert(0, str(folder))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        sys.path.remove(str(folder))
        forget()


def _outputs(args) -> dict[str, object]:
    outputs = {**args.inputs, "name": args.inputs.get("name", args.name)}
    outputs.setdefault("arn", f"arn:aws:mock:::{args.name}")
    if args.typ.endswith(":LaunchTemplate"):
        outputs["latestVersion"] = 1
    if args.typ.endswith(":MountTarget"):
        outputs["ipAddress"] = "10.0.0.9"
    if args.typ.endswith(":LustreFileSystem"):
        outputs |= {"dnsName": "fs-0mock.fsx.us-east-1.amazonaws.com", "mountName": "mock"}
    return outputs


def _answer(token: str, arguments: Mapping[str, object]) -> dict[str, object]:
    answers: dict[str, dict[str, object]] = {
        "getVpc": {"id": "vpc-0default"},
        "getSubnets": {"ids": ["subnet-0bbbbbbb", "subnet-0aaaaaaa"]},
        "getParameter": {"value": AMI, "insecureValue": AMI},
        "getAmi": {"rootDeviceName": "/dev/xvda"},
        "getCallerIdentity": {"accountId": ACCOUNT},
        "getVolume": {"volumeId": "vol-0mock"},
        "getFileSystem": {"fileSystemId": "fs-0mock", "dnsName": "fs-0mock.efs.amazonaws.com"},
    }
    return {**arguments, "id": "mock", **answers[token.rpartition(":")[2]]}
