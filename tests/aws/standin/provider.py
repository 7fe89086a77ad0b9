"""The provider's process: prints its port, then answers the engine until it is ended.

Run as `pulumi-resource-aws`, as the engine looks for it on PATH. Types that rules.py does not
know are refused, so that a program cannot use one unnoticed.
"""

from __future__ import annotations

import os
import time
import uuid
from concurrent import futures
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, struct_pb2
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from tests.aws.standin.rules import TYPES, faults
from tests.aws.standin.world import DEFAULT_AMI, INSTANCE, World, begin, end, is_gone

VERSION = version("pulumi-aws")
ACCOUNT = "123456789012"


def _plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    return {key: value for key, value in MessageToDict(struct).items() if not key.startswith("__")}


def _struct(values: dict[str, Any]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update(values)
    return struct


def _kind_and_name(urn: str) -> tuple[str, str]:
    parts = urn.split("::", 3)
    return parts[2].rpartition("$")[2], parts[3]


def _outputs(kind: str, identity: str, inputs: dict[str, Any]) -> dict[str, Any]:
    short = kind.rpartition(":")[2]
    found = {
        "name": identity,
        **inputs,
        "id": identity,
        "arn": f"arn:aws:standin:us-east-1:{ACCOUNT}:{short}/{identity}",
        "tagsAll": inputs.get("tags", {}),
    }
    if short == "LaunchTemplate":
        found["latestVersion"] = 1
    if kind == INSTANCE:
        found["privateIp"] = "10.0.0.10"
    if short == "MountTarget":
        found["ipAddress"] = "10.0.0.9"
    if short == "LustreFileSystem":
        found |= {"dnsName": f"{identity}.fsx.us-east-1.amazonaws.com", "mountName": "abcdef"}
    return found


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, world: World) -> None:
        self.world = world

    def Handshake(self, request, context):
        return provider_pb2.ProviderHandshakeResponse()

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetSchema(self, request, context):
        return provider_pb2.GetSchemaResponse(schema=f'{{"name":"aws","version":"{VERSION}"}}')

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    def Cancel(self, request, context):
        return empty_pb2.Empty()

    def Check(self, request, context):
        kind, name = _kind_and_name(request.urn)
        old, new = _plain(request.olds), _plain(request.news)
        rules = TYPES.get(kind)
        if rules is None:
            failure = provider_pb2.CheckFailure(reason=f"the stand-in does not know {kind}")
            return provider_pb2.CheckResponse(inputs=request.news, failures=[failure])
        if rules.named and not new.get(rules.named) and not new.get(f"{rules.named}Prefix"):
            made = f"{name}-{uuid.uuid4().hex[:7]}"
            new[rules.named] = old.get(rules.named) or made
        if kind.endswith(":SecurityGroup"):
            new.setdefault("description", "Managed by Pulumi")
        refused = self.world.read("refusals").get(kind)
        failures = [provider_pb2.CheckFailure(reason=refused)] if refused else []
        failures += [
            provider_pb2.CheckFailure(property=name, reason=reason)
            for name, reason in faults(rules, new)
        ]
        return provider_pb2.CheckResponse(inputs=_struct(new), failures=failures)

    def Diff(self, request, context):
        kind, _ = _kind_and_name(request.urn)
        old, new = _plain(request.old_inputs), _plain(request.news)
        for ignored in request.ignoreChanges:
            old.pop(ignored, None), new.pop(ignored, None)
        detail, replaces = {}, []
        for path in sorted(_changed(old, new, "")):
            top = path.partition(".")[0].partition("[")[0]
            forced = any(item in (top, path) for item in TYPES[kind].forces)
            replaces += [top] if forced else []
            verb = "UPDATE"
            if _at(old, path) is None:
                verb = "ADD"
            elif _at(new, path) is None:
                verb = "DELETE"
            suffix = "_REPLACE" if forced else ""
            detail[path] = provider_pb2.PropertyDiff(
                kind=provider_pb2.PropertyDiff.Kind.Value(verb + suffix), inputDiff=True
            )
        answer = provider_pb2.DiffResponse
        return answer(
            changes=answer.DIFF_SOME if detail else answer.DIFF_NONE,
            diffs=sorted({path.partition(".")[0].partition("[")[0] for path in detail}),
            replaces=sorted(set(replaces)),
            detailedDiff=detail,
            hasDetailedDiff=True,
        )

    def Create(self, request, context):
        (kind, name), inputs = _kind_and_name(request.urn), _plain(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=_struct(inputs))
        broken = self.world.read("faults")
        if kind in broken or name in broken:
            context.abort(grpc.StatusCode.UNKNOWN, broken.get(kind) or broken[name])
        made = begin(self.world, kind, inputs)
        identity = made or f"{kind.rpartition(':')[2].lower()[:8]}-{uuid.uuid4().hex[:17]}"
        with self.world.changed() as world:
            world[identity] = {"type": kind, "name": name, "inputs": inputs}
        slow = self.world.read("slow")
        time.sleep(slow.get(kind) or slow.get(name) or 0)
        outputs = _outputs(kind, identity, inputs)
        return provider_pb2.CreateResponse(id=identity, properties=_struct(outputs))

    def Read(self, request, context):
        entry = self.world.read().get(request.id)
        if entry is None or is_gone(entry["type"], request.id):
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=request.id,
            inputs=_struct(entry["inputs"]),
            properties=_struct(_outputs(entry["type"], request.id, entry["inputs"])),
        )

    def Update(self, request, context):
        (kind, name), inputs = _kind_and_name(request.urn), _plain(request.news)
        if not request.preview:
            with self.world.changed() as world:
                world[request.id] = {"type": kind, "name": name, "inputs": inputs}
        outputs = _outputs(kind, request.id, inputs)
        return provider_pb2.UpdateResponse(properties=_struct(outputs))

    def Delete(self, request, context):
        stuck = self.world.read("stuck")
        for item in _kind_and_name(request.urn):
            if item in stuck:
                context.abort(grpc.StatusCode.UNKNOWN, stuck[item])
        with self.world.changed() as world:
            entry = world.pop(request.id, None)
        if entry is not None:
            end(entry["type"], request.id, entry["inputs"])
        return empty_pb2.Empty()

    def Invoke(self, request, context):
        arguments = _plain(request.args)
        ami = self.world.read("answers").get(arguments.get("name"), DEFAULT_AMI)
        answers: dict[str, dict[str, Any]] = {
            "getParameter": {"value": ami, "insecureValue": ami, "type": "String", "version": 1},
            "getVpc": {"id": arguments.get("id") or "vpc-0123456789abcdef0"},
            "getSubnets": {"ids": ["subnet-0bbbbbbb", "subnet-0aaaaaaa"]},
            "getAmi": {"rootDeviceName": "/dev/xvda"},
            "getCallerIdentity": {"accountId": ACCOUNT},
            "getVolume": {"volumeId": "vol-0123456789abcdef0"},
            "getFileSystem": {
                "fileSystemId": arguments.get("fileSystemId") or "fs-0123456789abcdef0",
                "dnsName": "fs-0123456789abcdef0.efs.us-east-1.amazonaws.com",
            },
        }
        found = answers.get(request.tok.rpartition(":")[2])
        if found is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"no answer to {request.tok}")
        return provider_pb2.InvokeResponse(
            **{"return": _struct({**arguments, "id": "standin", **found})}
        )


def _changed(old: object, new: object, path: str) -> list[str]:
    """Paths of the leaves that differ, as the provider names them."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            found
            for key in {*old, *new}
            for found in _changed(old.get(key), new.get(key), _below(path, key))
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [x for i, (a, b) in pairs for x in _changed(a, b, f"{path}[{i}]")]
    return [] if old == new else [path]


def _below(path: str, key: str) -> str:
    if not key.replace("_", "").isalnum():
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def _at(values: dict[str, Any], path: str) -> object:
    """The value of a property, or of one level below it: enough to tell adding from changing."""
    top = path.partition(".")[0].partition("[")[0]
    value = values.get(top)
    rest = path[len(top) :]
    if rest and isinstance(value, dict):
        return value.get(rest.strip('.[]"'))
    return value


def main() -> None:
    server = grpc.server(futures.ThreadPoolExecutor(8))
    world = World(Path(os.environ["AWS_STANDIN"]))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(world), server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
