"""Nodes of a run on this machine: the rendered scripts, with AWS played by small commands.

Every node has a folder in place of the root file system: paths of the scripts are moved
there, and a folder of stand-ins (aws, curl, shutdown, ...) comes first on its PATH. The
bucket is a folder that all nodes share.
"""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from compiler.diagnostics import Diagnostics
from compiler.targets.aws import TARGET
from compiler.targets.interface import Job
from tests.aws.builders import owner

_AWS = """#!/bin/bash
echo "aws $*" >>"{node}/aws.calls"
local_of() {{ printf '%s/%s' "{bucket}" "${{1#s3://}}"; }}
words=()
name=
while [ $# -gt 0 ]; do
    case $1 in
        --name | --secret-id) name=$2 && shift ;;
        --query | --output | --username) shift ;;
        --bucket | --key) words+=("$1" "$2") && shift ;;
        --*) ;;
        *) words+=("$1") ;;
    esac
    shift
done
set -- "${{words[@]}}"
case "$1 $2" in
    's3 cp')
        case $3 in
            -)
                to=$(local_of "$4") && mkdir -p "${{to%/*}}"
                cat >"$to.part" && mv "$to.part" "$to"
                ;;
            s3://*/) mkdir -p "$4" && cp -r "$(local_of "$3")." "$4" ;;
            s3://*) cp "$(local_of "$3")" "$4" ;;
            *) to=$(local_of "$4") && mkdir -p "${{to%/*}}" && cp "$3" "$to" ;;
        esac
        ;;
    's3 sync')
        from=$(local_of "$3") && mkdir -p "$from" "$4"
        for file in "${{from%/}}/"*; do
            case $file in *.part | *'*') continue ;; esac
            cp -r "$file" "$4"
        done
        ;;
    's3api head-object') [ -f "{bucket}/$4/$6" ] ;;
    'ssm get-parameter' | 'secretsmanager get-secret-value')
        cat "{bucket}/secrets/${{name//\\//_}}" && echo
        ;;
    *) exit 99 ;;
esac
"""

_COMMANDS = {
    "aws": _AWS,
    "curl": """#!/bin/bash
case "$*" in
    *api/token*) echo token ;;
    *triplane:rank*) printf %s "{rank}" ;;
    *triplane:volume:*) last=${{!#}} && cat "{node}/tags/${{last##*:}}" ;;
    *local-ipv4*) printf %s "10.0.0.1{rank}" ;;
    *spot/instance-action*) [ -e "{node}/notice" ] && echo '{{"action": "terminate"}}' ;;
    *--head*) printf 'HTTP/1.1 403 Forbidden\\r\\nx-amz-bucket-region: eu-west-1\\r\\n\\r\\n' ;;
esac
""",
    "shutdown": '#!/bin/bash\necho "$*" >"{node}/shutdown"\n',
    "getent": '#!/bin/bash\necho "root:x:0:0::{node}/home:/bin/bash"\n',
    "id": "#!/bin/bash\nexit 1\n",
    "chown": "#!/bin/bash\n",
    "sleep": "#!/bin/bash\nexec /bin/sleep 0.1\n",
    "setpriv": '#!/bin/bash\nshift 5\nexec "$@"\n',
    "systemd-run": '#!/bin/bash\nprintf "%s\\n" "$@" >"{node}/systemd-run"\n',
    "mount-s3": '#!/bin/bash\necho "mount-s3 $*" >>"{node}/mounts"\n',
    # A mounted disk or file system is a folder of the node, shown through a link.
    "mount": """#!/bin/bash
echo "mount $*" >>"{node}/mounts"
[ "$1" = --bind ] && rmdir "$3" && ln -s "$2" "$3"
exit 0
""",
    "blkid": """#!/bin/bash
[ ! -e "{node}/broken" ] || exit 8
[ -e "{node}/formatted" ] || exit 2
[ "$1" = -p ] || echo ext4
""",
    "mkfs.ext4": '#!/bin/bash\necho "mkfs.ext4 $*" >>"{node}/mounts" && touch "{node}/formatted"\n',
    "pgrep": """#!/bin/bash
case "$*" in
    *ssm-*) [ -e "{node}/session" ] ;;
    *) exec /usr/bin/pgrep "$@" ;;
esac
""",
    "mount.nfs4": "#!/bin/bash\n",
    "mount.lustre": "#!/bin/bash\n",
    "resize2fs": '#!/bin/bash\necho "resize2fs $*" >>"{node}/mounts"\n',
    "rclone": """#!/bin/bash
if [ "$1" = mount ]; then
    echo "rclone $*" >>"{node}/mounts"
elif [ -e "{node}/unmounted" ]; then
    exit 1
elif [ -e "{node}/denied" ]; then
    printf '"uploadsInProgress": 0,\\n"uploadsQueued": 1\\n'
elif [ -e "{node}/uploading" ]; then
    rm "{node}/uploading"
    echo '"uploadsInProgress": 0, "uploadsQueued": 2'
else
    [ ! -e "{run}/outcome.json" ] || echo late >>"{node}/mounts"
    echo flushed >>"{node}/mounts"
    echo '"uploadsInProgress": 0, "uploadsQueued": 0'
fi
""",
    "docker": """#!/bin/bash
echo "docker $*" >>"{node}/docker.calls"
[ "$1" = run ] || exit 0
exec bash "${{@: -2:1}}" "${{@: -1}}"
""",
}


@dataclass
class Node:
    """One rank; `home` is the account's home, `folder` its private root."""

    rank: int
    folder: Path
    process: subprocess.Popen | None = None

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def was_shut_down(self) -> bool:
        return (self.folder / "shutdown").exists()

    def log(self) -> str:
        return (self.folder / "triplane.log").read_text()


class Cluster:
    """All nodes of one job below `folder`."""

    def __init__(self, folder: Path, job: Job) -> None:
        diagnostics = Diagnostics()
        artifacts = TARGET.render(job, diagnostics)
        assert not diagnostics.has_errors, diagnostics.sorted()
        self.job = job
        self.bucket = folder / "bucket"
        self.run_folder = (
            self.bucket / owner().place / f"runs/{job.target.key}/{job.work}.{job.run}"
        )
        self.files = self.bucket / "team-bucket/ml/.triplane/files"
        self.files.mkdir(parents=True)
        (self.bucket / "secrets").mkdir()
        self._scripts = {
            item.path.rpartition("/")[2]: item.text
            for item in artifacts
            if item.name.startswith("Script/")
        }
        (self.user_data,) = (item.text for item in artifacts if item.name.startswith("UserData/"))
        self.nodes = [
            self._node(folder / f"node{rank}", rank) for rank in range(job.task.num_nodes)
        ]

    def _node(self, folder: Path, rank: int) -> Node:
        commands, scripts = folder / "bin", folder / "triplane/scripts"
        for path in (commands, scripts, folder / "home"):
            path.mkdir(parents=True)
        for name, text in _COMMANDS.items():
            path = commands / name
            path.write_text(
                text.format(node=folder, bucket=self.bucket, rank=rank, run=self.run_folder)
            )
            path.chmod(0o755)
        for name, text in self._scripts.items():
            (scripts / name).write_bytes(self.moved(text, folder).encode())
        return Node(rank, folder)

    @staticmethod
    def moved(text: str, folder: Path) -> str:
        """The script with its paths below `folder` and the stand-ins on its PATH."""
        text = text.replace("/opt/triplane", f"{folder}/triplane")
        text = text.replace("/var/log/triplane.log", f"{folder}/triplane.log")
        return text.replace("export PATH=", f"export PATH={folder}/bin:")

    def start(self, node: Node) -> None:
        environment = {"PATH": f"{node.folder}/bin:{os.environ['PATH']}", "HOME": "/root"}
        node.process = subprocess.Popen(
            ["bash", str(node.folder / "triplane/scripts/supervisor.sh")],
            env=environment | {"AWS_DEFAULT_REGION": "us-east-1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, timeout: float = 60) -> list[int]:
        """Start every node and wait for all; returns the supervisors' exit codes."""
        for node in self.nodes:
            self.start(node)
        return self.wait(timeout)

    def wait(self, timeout: float = 60) -> list[int]:
        started = [node.process for node in self.nodes if node.process is not None]
        try:
            for process in started:
                process.communicate(timeout=timeout)
        finally:
            for process in started:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        return [process.returncode for process in started]

    def state(self, name: str) -> str:
        """The content of an object of the run's folder, `0.end` of the ranks' state."""
        folder = self.run_folder if name == "outcome.json" else self.run_folder / "state"
        return (folder / name).read_text().strip()
