"""Container images made of this machine's own files: a shell, coreutils, tar, curl, git, perl.

Frameworks are stand-ins: they say how they were called, and what is a server answers.
"""

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
    "awk",
    "bash",
    "cat",
    "chmod",
    "cp",
    "curl",
    "cut",
    "date",
    "dirname",
    "env",
    "basename",
    "false",
    "getent",
    "git",
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
    "perl",
    "printf",
    "pwd",
    "rm",
    "sed",
    "seq",
    "sh",
    "sha256sum",
    "sleep",
    "sort",
    "split",
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
    "xargs",
]
# Programs that golden cases call and that are too large to bring along: each says how it was
# called.
_STAND_IN = """\
#!/bin/bash
printf 'ran %s' "${0##*/}"
printf ' %q' "$@"
printf '\\n'
for word in "$@"; do
    [ ! -e "$word" ] || printf 'there is %s\\n' "$word"
done
"""
# Answers every request on a port with `ok`.
_ANSWER = """\
#!/usr/bin/env perl
use IO::Socket::INET;
my $at = IO::Socket::INET->new(LocalPort => $ARGV[0], Listen => 9, ReuseAddr => 1) or die;
while (my $one = $at->accept) {
    while (<$one>) { last if /^\\r?$/ }
    print $one "HTTP/1.0 200 OK\\r\\n\\r\\nok\\n";
    close $one;
}
"""
_PYTHON = (
    _STAND_IN
    + """\
case "$*" in
"-m venv "*) # with a pip, and nothing to activate
    mkdir -p "$3/bin"
    cp /usr/local/bin/pip "$3/bin/"
    : >"$3/bin/activate" ;;
"-m http.server "*) exec answer "$3" ;;
"-m sglang.launch_server "*) exec answer "${!#}" ;;
esac
# A training beside others goes on when the test has seen all of them.
[ -z "$SKYPILOT_JOBGROUP_NAME" ] || [ -z "$POLICY" ] ||
    until [ -e "$POLICY/go-on" ]; do sleep 0.5; done
"""
)
_RAY = (
    _STAND_IN
    + """\
case "$1" in
status) exit 1 ;; # the head has gone
list) seq "$SKYPILOT_NUM_NODES" | sed s/^/node_id/ ;;
esac
"""
)
_STAND_INS = {
    **dict.fromkeys(("make", "neuron-ls", "pip", "torchrun", "trl"), _STAND_IN),
    **dict.fromkeys(("python", "python3"), _PYTHON),
    "answer": _ANSWER,
    "ray": _RAY,
    "vllm": _STAND_IN + 'exec answer "${!#}"\n',
}
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
        for name, text in _STAND_INS.items():
            _add(archive, f"usr/local/bin/{name}", text.encode(), 0o755)
        for path in _perl_modules():
            _add(archive, str(path).lstrip("/"), path.read_bytes())
        for library in sorted(_libraries(programs)):
            _add(archive, str(library).lstrip("/"), library.resolve().read_bytes(), 0o755)
        link = tarfile.TarInfo("usr/bin/env")
        link.type, link.linkname = tarfile.SYMTYPE, "/bin/env"
        archive.addfile(link)
        _add(archive, "etc/passwd", b"root:x:0:0:root:/root:/bin/bash\n")
        _add(archive, "etc/group", b"root:x:0:\n")
        _add(archive, "etc/nsswitch.conf", b"hosts: files dns\n")
    return buffer.getvalue()


def _perl_modules() -> list[Path]:
    """The modules that Debian's perl has without any other package."""
    told = subprocess.run(
        ["perl", "-e", "print join(qq(\\n), @INC)"], capture_output=True, text=True
    )
    folder = next(Path(path) for path in told.stdout.split("\n") if path.endswith("/perl-base"))
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


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
