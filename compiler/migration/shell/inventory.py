"""What a new place must offer: modules, environments, paths, ports, launchers, images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.migration.shell.body import Body, Command
from compiler.migration.shell.launchers import Kind, launches, step

_CUDA = re.compile(r"(?:^|[/_-])cuda(?:toolkit)?[/_-]?v?([0-9]+(?:\.[0-9]+)*)?", re.IGNORECASE)
_SHARED = re.compile(
    r"/(?:home|users|work|project|projects|data|gpfs|lustre|fsx|shared|nfs|scratch[0-9a-z_-]*"
    r"|p|pfs|ceph|beegfs|global|mnt|opt|apps|sw|proj|nobackup|u|n|research|groups?|mmfs1)"
    r"/[A-Za-z0-9_.@+/-]+"
)
_HOMELIKE = frozenset(
    {
        "HOME",
        "SCRATCH",
        "WORK",
        "PROJECT",
        "SCRATCHDIR",
        "WORKDIR",
        "PSCRATCH",
        "CSCRATCH",
        "TMPDIR",
    }
)
_PORT_NAME = re.compile(r"(?:^|_)(?:MASTER_)?PORT$", re.IGNORECASE)
_PORT_FLAG = re.compile(
    r"--(?:master[_-]|main_process_|rdzv[_-]endpoint|server[.-])?port(?:=(\S+))?$"
)
_ARGUMENT = re.compile(r"[@*#]|[1-9][0-9]*")
_NOT_MODULES = frozenset(
    {"list", "avail", "av", "spider", "show", "help", "whatis", "purge", "reset", "save", "restore"}
)
_INSTALLERS = frozenset(
    {"pip", "pip3", "conda", "mamba", "apt-get", "apt", "yum", "dnf", "spack", "uv"}
)
_SLURM = frozenset(
    {"sbatch", "salloc", "scontrol", "scancel", "squeue", "sacct", "sinfo", "sstat", "sbcast"}
    | {"sattach", "strigger", "sprio", "sreport"}
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that the script needs; `kind` is one of KINDS, `detail` says more."""

    kind: str
    text: str
    line: int
    detail: str = ""


KINDS = (
    *("module", "cuda", "environment", "install", "path", "port", "launcher", "image"),
    *("slurm-command", "slurm-variable", "arguments", "sourced"),
)


def facts(body: Body) -> tuple[Fact, ...]:
    """Everything that was found, without repetition, by kind and then in the text's order."""
    found: dict[tuple[str, str, str], Fact] = {}
    for fact in _all(body):
        found.setdefault((fact.kind, fact.text, fact.detail), fact)
    return tuple(sorted(found.values(), key=lambda fact: (KINDS.index(fact.kind), fact.line)))


def _all(body: Body) -> Iterator[Fact]:
    for command in body.commands:
        yield from _modules(command)
        yield from _environments(command)
        if command.name in _SLURM:
            verb = command.arguments[0].text if command.arguments else ""
            detail = verb if command.name == "scontrol" else ""
            yield Fact("slurm-command", command.name, command.line, detail)
        for word in command.words:
            for match in _SHARED.finditer(word.text):
                yield Fact("path", _top(match[0]), command.line)
            port = _PORT_FLAG.match(word.text)
            if port is not None and port[1]:
                yield Fact("port", port[1], command.line)
    for assignment in body.assignments:
        if assignment.value is not None:
            for match in _SHARED.finditer(assignment.value.text):
                yield Fact("path", _top(match[0]), assignment.line)
            if _PORT_NAME.search(assignment.name):
                text = assignment.value.text
                yield Fact("port", text, assignment.line, f"{assignment.name}")
    for use in body.uses:
        if use.name in _HOMELIKE:
            yield Fact("path", f"${use.name}", use.line)
        elif use.name.startswith(("SLURM_", "SLURMD_")):
            detail = "inside a quoted text" if use.quoted else ""
            yield Fact("slurm-variable", use.name, use.line, detail)
        elif _ARGUMENT.fullmatch(use.name) and not use.quoted and not use.in_function:
            yield Fact("arguments", f"${use.name}", use.line)
    yield from _launchers(body)


def _modules(command: Command) -> Iterator[Fact]:
    words = [word.literal or word.text for word in command.arguments]
    if command.name == "module" and words[:1] and words[0] in ("load", "add", "swap", "switch"):
        names = words[1:]
    elif command.name == "ml" and words and words[0] not in _NOT_MODULES:
        names = words[1:] if words[0] in ("load", "add", "swap") else words
    else:
        return
    for name in names:
        if name.startswith("-"):
            continue
        yield Fact("module", name, command.line)
        match = _CUDA.search(name)
        if match is not None:
            yield Fact("cuda", match[1] or "any version", command.line, f"module {name}")


def _environments(command: Command) -> Iterator[Fact]:
    words = [word.literal or word.text for word in command.arguments]
    first = words[0] if words else ""
    if command.name in ("conda", "mamba", "micromamba") and first == "activate":
        yield Fact("environment", words[1] if len(words) > 1 else "base", command.line, "conda")
    elif command.name in ("source", ".") and first:
        if first in ("activate", "deactivate"):
            name = words[1] if len(words) > 1 else "base"
            yield Fact("environment", name, command.line, "conda")
        elif first.endswith("/bin/activate"):
            name = words[1] if len(words) > 1 else first.removesuffix("/bin/activate")
            yield Fact("environment", name, command.line, "conda" if len(words) > 1 else "venv")
        else:
            yield Fact("sourced", first, command.line)
    elif command.name == "spack" and first in ("load", "env"):
        yield Fact("environment", " ".join(words[1:]), command.line, "spack")
    elif command.name in _INSTALLERS and "install" in words[:2]:
        yield Fact("install", f"{command.name} {' '.join(words)}"[:200], command.line)


def _launchers(body: Body) -> Iterator[Fact]:
    for launch in launches(body):
        line = launch.command.line
        yield Fact("launcher", launch.name, line, " ".join(launch.flags)[:200])
        if launch.kind is Kind.STEP:
            image = step(launch.command).options.get("container-image")
            if image:
                yield Fact("image", image, line, "pyxis")
        elif launch.kind is Kind.CONTAINER:
            image = _image(launch.command)
            if image:
                yield Fact("image", image, line, launch.name)


def _image(command: Command) -> str | None:
    """The image that a container command names: the last word that looks like one."""
    words = [word.literal or word.text for word in command.arguments]
    for word in words:
        if word.endswith((".sif", ".simg", ".img", ".sqsh")) or "://" in word:
            return word
        if word.startswith("--image="):
            return word.removeprefix("--image=")
    if command.name in ("docker", "podman", "podman-hpc", "nvidia-docker") and "run" in words[:2]:
        after = [word for word in words[words.index("run") + 1 :] if not word.startswith("-")]
        return next((word for word in after if ":" in word or "/" in word), None)
    return None


def _top(path: str) -> str:
    """The first parts of a path: what would have to be mounted, not every file in it."""
    parts = path.split("/")
    return "/".join(parts[:4]) if len(parts) > 4 else path
