"""Rules for what a job asks of nodes: their number, tasks, CPUs, memory, GPUs."""

from __future__ import annotations

from compiler.diagnostics.codes import migration as codes
from compiler.diagnostics.codes import migration_body as body_codes
from compiler.migration.arrays import array_of
from compiler.migration.containers import image_id
from compiler.migration.gpus import choose, spelled_alike
from compiler.migration.mapping import Mapping, hand_on, lost
from compiler.migration.reading.header import Given
from compiler.migration.result import Outcome


def nodes(mapping: Mapping, given: Given) -> None:
    request = mapping.script.request
    changed = mapping.component.changes.get("nodes")
    if request.node_count is None:
        if mapping.keeps:
            hand_on(mapping, given, mapping.value("nodes"), "how many of them is left to Slurm")
            return
        least = request.nodes[0] if request.nodes else 1
        text = f"{given.value} nodes: a task has a fixed number; {least} is written"
        mapping.draft.put(("num_nodes",), max(least, 1))
        mapping.say(given, Outcome.DECISION, codes.NODE_RANGE, text, ("num_nodes",))
        return
    mapping.draft.put(("num_nodes",), request.node_count)
    if changed:
        mapping.say(given, Outcome.TRANSLATED, codes.CHANGED, changed, ("num_nodes",))
        return
    mapping.say(given, Outcome.FIELD, codes.FIELD, "the number of nodes", ("num_nodes",))


def tasks(mapping: Mapping, given: Given) -> None:
    if mapping.keeps:
        hand_on(mapping, given)
        return
    request = mapping.script.request
    count = request.node_count or 1
    if count > 1 and "nodes" not in mapping.component.settings:
        mapping.draft.put(("num_nodes",), count)
        text = f"{request.task_count} tasks, {request.node_tasks} a node: {count} nodes"
        mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text, ("num_nodes",))
        if (request.node_tasks or 1) > 1 and mapping.draft.get(("resources", "cpus")) is None:
            mapping.draft.put(("resources", "cpus"), request.node_cpus)
        return
    if (request.node_tasks or 1) == 1:
        text = "one task a node is what a task is"
        mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text)
        return
    if mapping.draft.get(("resources", "cpus")) is None:
        mapping.draft.put(("resources", "cpus"), request.node_cpus or request.node_tasks)
    text = f"{request.node_tasks} tasks a node, which a launcher starts; `cpus` is for all of them"
    mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text, ("resources", "cpus"))


def cpus(mapping: Mapping, given: Given) -> None:
    path = ("resources", "cpus")
    request = mapping.script.request
    cpus = request.cpus_per_task if mapping.keeps else request.node_cpus
    mapping.draft.put(path, cpus or request.cpus_per_task or 1)
    tasks = request.node_tasks or 1
    if mapping.keeps or tasks == 1:
        mapping.say(given, Outcome.FIELD, codes.FIELD, "the CPUs of a task", path)
        return
    text = f"{tasks} tasks of {request.cpus_per_task} CPUs on each node"
    mapping.say(given, Outcome.TRANSLATED, codes.FIELD, text, path)


def memory(mapping: Mapping, given: Given) -> None:
    request = mapping.script.request
    path = ("resources", "memory")
    if given.name != "mem" and mapping.keeps:
        hand_on(mapping, given)
        return
    amount = request.node_memory
    if amount == 0:
        if mapping.keeps:
            hand_on(mapping, given, "0", "all of a node's memory")
            return
        text = "all of a node's memory: how much that is follows from the node"
        mapping.say(given, Outcome.DECISION, codes.NODE_RANGE, text)
        return
    if amount is None:
        text = "how much that is for a node is not certain"
        mapping.say(given, Outcome.DECISION, codes.NODE_RANGE, text)
        return
    mapping.draft.put(path, memory_value(amount))
    if given.name == "mem":
        unit = "" if (given.value or "")[-1:].isalpha() else "; a number alone is MiB"
        mapping.say(given, Outcome.FIELD, codes.FIELD, f"the memory of a node{unit}", path)
        return
    text = f"{given.value} a {given.name.rpartition('-')[2]} is {amount} MiB a node"
    mapping.say(given, Outcome.TRANSLATED, codes.FIELD, text, path)


def memory_value(mib: int) -> int | str:
    """GiB where that is whole, else a text with its unit."""
    return mib // 1024 if mib % 1024 == 0 else f"{mib}MB"


def gpus(mapping: Mapping, given: Given) -> None:
    script = mapping.script
    request = script.request
    demands = [demand for demand in request.gpus if demand.option == given.name]
    path = ("resources", "accelerators")
    chosen = choose(request, dict(script.options), script.settings)
    if not demands or chosen is None or len(request.gpus) > 1:
        if mapping.keeps:
            hand_on(mapping, given)
        else:
            lost(mapping, given)
        return
    demand = demands[0]
    exact = (
        demand.per == "node" and not request.other_gres and script.settings.gres_style == "typed"
    )
    alike = demand.kind is not None and spelled_alike(demand.kind)
    if mapping.keeps and not (exact and (alike or chosen.source == "stack")):
        hand_on(mapping, given, None, "asked for as before")
        return
    if chosen.name is None:
        text = "which kind of GPU is not in the script"
        if demand.kind is not None:
            text = f"`{demand.kind}` is no accelerator that the catalogue has"
        if chosen.hint:
            text += f"; {chosen.hint}"
        mapping.draft.put(path, f"{UNKNOWN}:{chosen.count}")
        code = codes.GPU_NAME if demand.kind is not None else codes.GPU_TYPE
        mapping.say(given, Outcome.DECISION, code, text, path)
        return
    mapping.draft.put(path, f"{chosen.name}:{chosen.count}")
    if chosen.source == "stack":
        text = f"the stack has {chosen.name} for partition `{request.partition}`"
        mapping.say(given, Outcome.TRANSLATED, codes.GPU_FROM_STACK, text, path)
        return
    outcome = Outcome.FIELD if alike and demand.per == "node" else Outcome.TRANSLATED
    mapping.say(given, outcome, codes.FIELD, f"{chosen.count} on each node", path)


def array(mapping: Mapping, given: Given) -> None:
    found = array_of(mapping.value("array"))
    if mapping.keeps or mapping.on_slurm or found is None:
        hand_on(mapping, given)
        return
    count = len(found.indices)
    text = f"{count} runs (`triplane run FILE --num-jobs {count}`), each with its own index"
    mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text, ("run",))


def image(mapping: Mapping, given: Given) -> None:
    path = ("resources", "image_id")
    if mapping.keeps or mapping.on_slurm:
        hand_on(mapping, given)
        return
    found = image_id(given.value or "")
    mapping.draft.put(path, found or f"docker:{UNKNOWN}")
    if found is None:
        text = f"`{given.value}` is a file of the cluster: name an image of a registry"
        mapping.say(given, Outcome.DECISION, body_codes.IMAGE, text, path)
        return
    mapping.say(given, Outcome.FIELD, codes.FIELD, "the image in which the script runs", path)


def mounts(mapping: Mapping, given: Given) -> None:
    if mapping.keeps or mapping.on_slurm:
        hand_on(mapping, given)
        return
    text = "folders of the cluster: mount volumes at these paths (`volumes`)"
    mapping.say(given, Outcome.DECISION, body_codes.MOUNTS, text)


UNKNOWN = "DECIDE"
"""Stands where an accelerator has to be named; no target takes it."""
