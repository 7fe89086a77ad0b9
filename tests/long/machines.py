"""Fresh Debian machines for the long mode: small trees, made once, copied and entered by chroot.

A machine sees this one's kernel and network and nothing else of it: no virtual environment, no
package cache, no git metadata of the checkout.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.slurm_site import make_tree

TOP = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "triplane" / "machines"
# "A fresh Debian machine with Python"; git is what the clone came by.
PACKAGES = ("ca-certificates", "git", "python3")
CHECKOUT = Path("/srv/triplane")
_NOT_COPIED = (".git", ".venv", "__pycache__", ".*_cache", "build", "dist", "rendered")
# How this machine reaches package registries, where that needs saying.
_NETWORK = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")
# Downloads are kept, as a registry's mirror would; the machine itself is thrown away.
_DOWNLOADS = {"apt": "/var/cache/apt/archives", "pip": "/root/.cache/pip"}
_ENTER = """\
set -eu
root=$1 downloads=$2
shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
for shared in sys dev; do mount --rbind "/$shared" "$root/$shared"; done
mount -t tmpfs -o mode=755 run "$root/run"
for file in /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || mount --bind "$(readlink -f "$file")" "$root$file"
done
while [ "$1" != -- ]; do
    mkdir -p "$downloads/$1" "$root$2"
    mount --bind "$downloads/$1" "$root$2"
    shift 2
done
shift
exec chroot "$root" "$@"
"""


@dataclass(frozen=True)
class Machine:
    """A Debian tree that is thrown away; `run` enters it as root."""

    suite: str
    root: Path

    def run(
        self,
        *argv: str | Path,
        cwd: Path = CHECKOUT,
        user: str = "root",
        home: str = "/root",
        timeout: float = 600,
        **environ: str,
    ) -> str:
        """All output of a command that must succeed; no process of it outlives the call."""
        values = {"HOME": home, "PATH": _path(user), "LANG": "C.UTF-8"} | _network() | environ
        command = ["env", "-i", f"--chdir={cwd}", *(f"{name}={values[name]}" for name in values)]
        if user != "root":
            command += ["setpriv", f"--reuid={user}", f"--regid={_group(user)}", "--clear-groups"]
        mounts = [word for name, place in _DOWNLOADS.items() for word in (name, place)]
        namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        enter = [*namespaces, "sh", "-c", _ENTER, "enter", self.root, CACHE / self.suite]
        done = subprocess.run(
            [*map(str, enter), *mounts, "--", *command, *map(str, argv)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-20000:]}"
        return done.stdout

    def copy_checkout(self) -> None:
        """Lays the checkout down as a downloaded archive of it would be."""
        ignore = shutil.ignore_patterns(*_NOT_COPIED)
        target = self.root / str(CHECKOUT).lstrip("/")
        shutil.copytree(TOP, target, symlinks=True, ignore=ignore)


@contextlib.contextmanager
def fresh_machine(suite: str) -> Iterator[Machine]:
    """A new machine with Debian's *suite*, `PACKAGES`, and the checkout in `CHECKOUT`."""
    tree = _pristine(suite)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix=f"{suite}-") as folder:
        root = Path(folder) / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", tree, root], check=True)
        # mmdebstrap leaves this to Debian's installer.
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
        machine = Machine(suite, root)
        machine.copy_checkout()
        yield machine


def _pristine(suite: str) -> Path:
    tree = CACHE / suite / "tree"
    if not tree.exists():
        made = tree.with_name("tree.new")
        shutil.rmtree(made, ignore_errors=True)
        made.parent.mkdir(parents=True, exist_ok=True)
        make_tree(made, suite, PACKAGES)
        made.rename(tree)
    return tree


def _network() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _NETWORK or name.startswith("PIP_")
    }


def _path(user: str) -> str:
    system = "/usr/local/bin:/usr/bin:/bin"
    return f"/usr/local/sbin:/usr/sbin:/sbin:{system}" if user == "root" else system


def _group(user: str) -> str:
    return "nogroup" if user == "nobody" else user


def last_line(output: str) -> str:
    """The closing line of a command's output."""
    lines: Sequence[str] = output.strip().splitlines() or [""]
    return lines[-1]
