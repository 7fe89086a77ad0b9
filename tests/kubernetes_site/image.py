"""Container images made of this machine's own files: a shell, coreutils, getent, tar, grep."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

_PROGRAMS = [
    "bash",
    "cat",
    "chmod",
    "cp",
    "cut",
    "date",
    "dirname",
    "env",
    "basename",
    "false",
    "getent",
    "grep",
    "gzip",
    "head",
    "hostname",
    "id",
    "ln",
    "ls",
    "mkdir",
    "mktemp",
    "mv",
    "od",
    "printf",
    "pwd",
    "rm",
    "sed",
    "seq",
    "sh",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "tail",
    "tar",
    "tee",
    "test",
    "timeout",
    "touch",
    "tr",
    "true",
    "uname",
    "uniq",
    "wc",
    "whoami",
]
# Programs that golden cases call and that are too large to bring along: each says how it was
# called.
_STAND_INS = ["make", "pip", "python", "python3", "ray", "torchrun", "trl", "vllm"]
_STAND_IN = """\
#!/bin/bash
printf 'ran %s' "${0##*/}"
printf ' %q' "$@"
printf '\\n'
for word in "$@"; do
    [ ! -e "$word" ] || printf 'there is %s\\n' "$word"
done
"""
_LIBRARY = re.compile(r"(/\S+\.so\S*)")


def write(path: Path, tags: Sequence[str], entrypoint: Sequence[str] = ()) -> None:
    """An archive for `ctr images import`."""
    layer = _layer()
    config = json.dumps(
        {
            "architecture": "amd64",
            "os": "linux",
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{_digest(layer)}"]},
            "config": {
                "Entrypoint": list(entrypoint) or None,
                "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"],
            },
        }
    ).encode()
    name = f"{_digest(config)}.json"
    manifest = [{"Config": name, "RepoTags": list(tags), "Layers": ["layer.tar"]}]
    with tarfile.open(path, "w") as archive:
        _add(archive, name, config)
        _add(archive, "layer.tar", layer)
        _add(archive, "manifest.json", json.dumps(manifest).encode())


def _layer() -> bytes:
    programs = [Path(found) for name in _PROGRAMS if (found := shutil.which(name))]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for folder in (
            "bin",
            "etc",
            "lib",
            "lib64",
            "root",
            "tmp",
            "usr",
            "usr/bin",
            "usr/local",
            "usr/local/bin",
        ):
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(member)
        for program in programs:
            _add(archive, f"bin/{program.name}", program.resolve().read_bytes(), 0o755)
        for name in _STAND_INS:
            _add(archive, f"usr/local/bin/{name}", _STAND_IN.encode(), 0o755)
        for library in sorted(_libraries(programs)):
            _add(archive, str(library).lstrip("/"), library.resolve().read_bytes(), 0o755)
        link = tarfile.TarInfo("usr/bin/env")
        link.type, link.linkname = tarfile.SYMTYPE, "/bin/env"
        archive.addfile(link)
        _add(archive, "etc/passwd", b"root:x:0:0:root:/root:/bin/bash\n")
        _add(archive, "etc/group", b"root:x:0:\n")
        _add(archive, "etc/nsswitch.conf", b"hosts: files dns\n")
    return buffer.getvalue()


def _libraries(programs: Iterable[Path]) -> set[Path]:
    found: set[Path] = set()
    for program in programs:
        told = subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout
        found.update(Path(name) for name in _LIBRARY.findall(told))
    return found


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), mode
    archive.addfile(member, io.BytesIO(content))
