"""The streams of this process and an SSH channel, connected until the command ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from compiler.targets import streams as ends
from compiler.targets.interface import Streams

if TYPE_CHECKING:
    import paramiko


def pump(channel: paramiko.Channel, streams: Streams) -> int:
    """Hand everything on in both directions; the exit code, -1 where the connection was lost."""
    outputs = [
        threading.Thread(target=_copy, args=(receive, file), daemon=True)
        for receive, file in (
            (channel.recv, streams.stdout),
            (channel.recv_stderr, streams.stderr),
        )
    ]
    if streams.stdin is None:
        channel.shutdown_write()
    with (
        ends.raw(streams),
        ends.resizing(streams, channel.resize_pty),
        ends.sending(streams, channel.sendall, channel.shutdown_write),
    ):
        for output in outputs:
            output.start()
        for output in outputs:
            output.join()
        return channel.recv_exit_status()


def _copy(receive: Callable[[int], bytes], file: int) -> None:
    while data := receive(ends.PIECE):
        ends.write(file, data)
