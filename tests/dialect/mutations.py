"""Small wrongs done to YAML texts, the same ones every time.

A mutation works on the tree of nodes, so that also what no plain data can hold (a key twice, a
number in a spelling of YAML 1.1) reaches the readers.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_STR = "tag:yaml.org,2002:str"
# Texts that YAML reads as something; what each becomes depends on the version of YAML.
_SPELLINGS = (
    "yes", "No", "on", "OFF", "~", "null", "NULL", "0777", "0o17", "0x1F", "12:30", "1e-6",
    "1.0e-6", "1_000", "1e3", ".5", "+1", ".inf", "-.inf", ".nan", "2024-01-01", "=", "<<", "-0",
    "0b11", "y",
)  # fmt: skip
_VALUES = (
    "null", "true", "false", "0", "-1", "1", "2", "1.5", "1000000", '""', "text", '"1"', '"0"',
    "[]", "{}", "[1]", "[a, b]", "{a: 1}", "{a: null}", "[null]", "' '", "'1+'", "A100:8", "10GB",
    "k8s/x", "/data", "~/data", "s3://bucket/x", "$NAME", "${NAME}", "docker:ubuntu", "[{a: b}]",
    "{a: {b: c}}", "8080", "1-2", "30m", "aws", "slurm", "kubernetes",
)  # fmt: skip
# Fields put where they may or may not belong, with a value that is right somewhere.
_FIELDS = (
    ("name", "other"), ("num_nodes", "3"), ("resources", "{cpus: 2}"), ("accelerators", "H100:8"),
    ("gpus", "L4"), ("infra", "aws/us-east-1"), ("cloud", "kubernetes"), ("region", "us-east-1"),
    ("zone", "us-east-1a"), ("use_spot", "true"), ("cpus", "4+"), ("memory", "16x"),
    ("disk_size", "100"), ("disk_tier", "best"), ("network_tier", "best"),
    ("local_disk", "nvme:100+"), ("ports", "[80, 81]"), ("image_id", "docker:ubuntu:22.04"),
    ("labels", "{a: b}"), ("autostop", "{idle_minutes: 5, down: true}"), ("priority", "10"),
    ("priority_class", "high"), ("job_recovery", "{strategy: FAILOVER}"),
    ("any_of", "[{infra: aws}, {infra: k8s}]"), ("ordered", "[{infra: aws}, {infra: slurm}]"),
    ("instance_type", "m6i.large"), ("max_hourly_cost", "3.5"), ("workdir", "."),
    ("envs", "{NAME: value}"), ("secrets", "{TOKEN: null}"), ("managed_secrets", "[TOKEN]"),
    ("file_mounts", "{/data: ./data}"), ("volumes", "{/mnt: {size: 10Gi}}"),
    ("service", "{readiness_probe: /, replicas: 2, ports: 80}"), ("pool", "{workers: 2}"),
    ("config", "{kubernetes: {namespace: x}}"), ("event_callback", "echo"),
    ("inputs", "{'s3://a': 1}"), ("outputs", "{'s3://a': 1.5}"), ("execution", "parallel"),
    ("run", "echo"), ("setup", "echo"), ("hooks", "[{run: echo, events: [down]}]"),
    ("mode", "COPY"), ("store", "s3"), ("persistent", "false"),
    ("replica_policy", "{min_replicas: 1, max_replicas: 2}"),
    ("accelerator_args", "{runtime_version: x}"), ("ephemeral_storage", "10Gi"),
    ("spot_recovery", "NONE"), ("api_server_access", "false"), ("size", "10Gi"),
    ("type", "k8s-pvc"), ("sub_path", "a/b"), ("host_path", "/scratch"),
    ("active_workspace", "team"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutation:
    what: str
    text: str


def mutations(text: str, seed: str, count: int) -> Iterator[Mutation]:
    """`count` texts that differ from `text` in one to three places; may repeat."""
    roots = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        changed = [copy.deepcopy(root) for root in roots]
        done = [_mutate(changed, chance) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        yield Mutation(" and ".join(done), yaml.serialize_all(changed, allow_unicode=True))


def _mutate(roots: list[Node], chance: random.Random) -> str:
    maps = [node for root in roots for node in _nodes(root) if isinstance(node, MappingNode)]
    chosen = chance.choice(maps)
    if not chosen.value:
        return _graft(chosen, 0, chance)
    at = chance.randrange(len(chosen.value))
    return chance.choice(_WRONGS)(chosen, at, chance)


def _nodes(node: Node | None) -> Iterator[Node]:
    if node is None:
        return
    yield node
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _nodes(key)
            yield from _nodes(value)
    elif isinstance(node, SequenceNode):
        for item in node.value:
            yield from _nodes(item)


def _called(node: MappingNode, at: int) -> str:
    return str(node.value[at][0].value)


def _drop(node: MappingNode, at: int, chance: random.Random) -> str:
    name = _called(node, at)
    del node.value[at]
    return f"drop {name}"


def _rename(node: MappingNode, at: int, chance: random.Random) -> str:
    key, value = node.value[at]
    if not isinstance(key, ScalarNode) or not key.value:
        return _drop(node, at, chance)
    old = key.value
    place = chance.randrange(len(old))
    new = chance.choice(
        (
            old[:place] + old[place + 1 :],
            old[:place] + old[place] + old[place:],
            old.upper(),
            old.replace("_", "-"),
            old + "s",
            chance.choice(_FIELDS)[0],
        )
    )
    node.value[at] = (ScalarNode(key.tag, new, style=key.style), value)
    return f"rename {old} to {new}"


def _retype(node: MappingNode, at: int, chance: random.Random) -> str:
    key, _ = node.value[at]
    value = chance.choice(_VALUES)
    node.value[at] = (key, _parsed(value))
    return f"set {_called(node, at)} to {value}"


def _spelling(node: MappingNode, at: int, chance: random.Random) -> str:
    text = chance.choice(_SPELLINGS)
    key, value = node.value[at]
    if chance.random() < 0.2:
        node.value[at] = (_plain(text), value)
        return f"call {key.value} {text}"
    node.value[at] = (key, _plain(text))
    return f"spell {_called(node, at)} {text}"


def _duplicate(node: MappingNode, at: int, chance: random.Random) -> str:
    key, value = node.value[at]
    node.value.insert(chance.randrange(len(node.value) + 1), (copy.deepcopy(key), _copied(value)))
    return f"repeat {key.value}"


def _nest(node: MappingNode, at: int, chance: random.Random) -> str:
    key, value = node.value[at]
    if chance.random() < 0.5:
        nested: Node = SequenceNode("tag:yaml.org,2002:seq", [value])
    else:
        nested = MappingNode("tag:yaml.org,2002:map", [(copy.deepcopy(key), value)])
    node.value[at] = (key, nested)
    return f"nest {key.value}"


def _graft(node: MappingNode, at: int, chance: random.Random) -> str:
    name, value = chance.choice(_FIELDS)
    node.value.insert(at, (ScalarNode(_STR, name), _parsed(value)))
    return f"add {name}"


def _touch(node: MappingNode, at: int, chance: random.Random) -> str:
    """A scalar, slightly other."""
    key, value = node.value[at]
    if not isinstance(value, ScalarNode) or "\n" in value.value:
        return _retype(node, at, chance)
    old = value.value
    new = chance.choice(
        (
            old + "/",
            old.upper(),
            old.lower(),
            old + "+",
            old + " ",
            old + ":2",
            f"{old},{old}",
            f"-{old}",
            old[1:],
        )
    )
    if chance.random() < 0.5:
        node.value[at] = (key, ScalarNode(_STR, new, style="'"))
    else:
        node.value[at] = (key, _plain(new))
    return f"change {key.value} to {new!r}"


def _several(node: MappingNode, at: int, chance: random.Random) -> str:
    """The value as alternatives, or one alternative less."""
    key, value = node.value[at]
    if isinstance(value, SequenceNode) and value.value:
        del value.value[chance.randrange(len(value.value))]
        return f"shorten {key.value}"
    other = _parsed(chance.choice(_VALUES))
    node.value[at] = (key, SequenceNode("tag:yaml.org,2002:seq", [value, other]))
    return f"list {key.value}"


_WRONGS: tuple[Callable[[MappingNode, int, random.Random], str], ...] = (
    _drop, _rename, _retype, _retype, _spelling, _spelling, _duplicate, _nest, _graft, _graft,
    _touch, _touch, _several,
)  # fmt: skip


def _copied(node: Node) -> Node:
    return copy.deepcopy(node)


def _parsed(text: str) -> Node:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    assert node is not None, text
    return node


def _plain(text: str) -> Node:
    """A scalar that stands in the text without quotes, whatever it then is."""
    try:
        node = yaml.compose(f"[{text}]", Loader=yaml.SafeLoader)
        if isinstance(node, SequenceNode) and len(node.value) == 1:
            return node.value[0]
    except yaml.YAMLError:
        pass
    return ScalarNode(_STR, text, style='"')
