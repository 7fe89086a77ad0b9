"""Running a command beside a rank's own, through Systems Manager: no port is open for it.

A command without a terminal is a Run Command, whose output AWS keeps to 24,000 characters; one
with a terminal is a session of the AWS CLI, which does the keys and the size of the window.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any

from compiler.diagnostics import WorkFailed
from compiler.planning.records import Record
from compiler.targets import streams as ends
from compiler.targets.aws.deployer import observe
from compiler.targets.aws.deployer.account import error_of
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Streams

ENTER = "/opt/triplane/scripts/enter.sh"
PLUGIN = (
    "https://docs.aws.amazon.com/systems-manager/latest/userguide/"
    "session-manager-working-with-install-plugin.html"
)
POLL_SECONDS = 1.0
# Without it a command is ended after an hour. It is the longest that AWS allows.
_RUN_SECONDS = 172800
# Until the node takes the command up; AWS allows no less than half a minute.
_TAKE_UP_SECONDS = 600
_WORKING = ("Pending", "InProgress", "Delayed", "Cancelling")
_OUTPUT_LIMIT = 24000


def execute(
    site: Site, record: Record, command: Sequence[str], streams: Streams, *, rank: int
) -> int:
    """The command's exit code (of a session: the plugin's). Raise WorkFailed where there is no
    such rank, or it does not run."""
    instance = _instance(site, record, rank)
    line = shlex.join(["sudo", "bash", ENTER, *command])
    if streams.terminal:
        return _session(site, instance, line)
    return _run(site, instance, line, streams)


def _instance(site: Site, record: Record, rank: int) -> str:
    found = observe.look(site, record.run_key)
    observe.settle(site, found)
    state = found[0].verdict if found else None
    if state is None or not state.state.is_live:
        said = f"has ended ({state.state})" if state else "is gone"
        raise WorkFailed(f"{site.target}: run {record.run} of {record.work} {said}")
    ids = (found[0].record.identity or "").split(",")
    if not 0 <= rank < len(ids) or not ids[rank]:
        raise WorkFailed(f"{site.target}: rank {rank} of {record.work} is not there")
    return ids[rank]


def _run(site: Site, instance: str, line: str, streams: Streams) -> int:
    ssm = site.account.client("ssm")
    with site.account.failing():
        sent = ssm.send_command(
            InstanceIds=[instance],
            DocumentName="AWS-RunShellScript",
            Parameters={"commands": [line], "executionTimeout": [str(_RUN_SECONDS)]},
            TimeoutSeconds=_TAKE_UP_SECONDS,
        )
        command = sent["Command"]["CommandId"]
        try:
            answer = _answer(ssm, command, instance)
        except KeyboardInterrupt:  # whoever asked no longer waits for it
            ssm.cancel_command(CommandId=command, InstanceIds=[instance])
            raise
    output = answer.get("StandardOutputContent") or ""
    ends.write(streams.stdout, output.encode())
    ends.write(streams.stderr, (answer.get("StandardErrorContent") or "").encode())
    if len(output) >= _OUTPUT_LIMIT:
        note = f"triplane: AWS kept {_OUTPUT_LIMIT} characters of the output\n"
        ends.write(streams.stderr, note.encode())
    code = int(answer.get("ResponseCode", -1))
    if code < 0:
        raise WorkFailed(f"{site.target}: {instance} did not run it: {answer['StatusDetails']}")
    return code


def _answer(ssm: Any, command: str, instance: str) -> Mapping[str, Any]:
    from botocore.exceptions import ClientError

    while True:
        try:
            answer = ssm.get_command_invocation(CommandId=command, InstanceId=instance)
        except ClientError as error:
            if error_of(error)[0] != "InvocationDoesNotExist":  # it does in a moment
                raise
            answer = {"Status": "Pending"}
        if answer["Status"] not in _WORKING:
            return answer
        time.sleep(POLL_SECONDS)


def _session(site: Site, instance: str, line: str) -> int:
    for tool in ("aws", "session-manager-plugin"):
        if shutil.which(tool) is None:
            raise WorkFailed(f"{site.target}: a terminal on AWS needs {tool}: {PLUGIN}")
    options = site.options
    words = ["aws", "ssm", "start-session", "--target", instance, "--region", options.region]
    if options.profile:
        words += ["--profile", options.profile]
    words += ["--document-name", "AWS-StartInteractiveCommand"]
    words += ["--parameters", json.dumps({"command": [line]})]
    return subprocess.run(words, check=False).returncode
