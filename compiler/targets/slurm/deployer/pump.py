"""The streams of this process and an SSH channel, connected until the command ends."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from compiler.targets.interface import Streams

if TYPE_CHECKING:
    import paramiko

_PIECE = 1 << 15


def pump(channel: paramiko.Channel, streams: Streams) -> int:
    """Hand everything on in both directions; the exit code, -1 where the connection was lost."""
    outputs = [
        threading.Thread(target=_copy, args=(receive, file), daemon=True)
        for receive, file in (
            (channel.recv, streams.stdout),
            (channel.recv_stderr, streams.stderr),
        )
    ]
    with _raw(channel, streams), _sending(channel, streams):
        for output in outputs:
            output.start()
        for output in outputs:
            output.join()
        return channel.recv_exit_status()


def _copy(receive: Callable[[int], bytes], file: int) -> None:
    while data := receive(_PIECE):
        while data:
            data = data[os.write(file, data) :]


@contextlib.contextmanager
def _sending(channel: paramiko.Channel, streams: Streams) -> Iterator[None]:
    """Hands the input on, in a thread of its own, until it ends or the command does."""
    if streams.stdin is None:
        channel.shutdown_write()
        yield
        return
    wake, waker = os.pipe()
    thread = threading.Thread(target=_send, args=(channel, streams.stdin, wake), daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.close(waker)
        thread.join()
        os.close(wake)


def _send(channel: paramiko.Channel, stdin: int, wake: int) -> None:
    with contextlib.suppress(OSError):  # the command has ended
        while wake not in (ready := select.select([stdin, wake], [], [])[0]):
            data = os.read(stdin, _PIECE) if ready else b""
            if not data:
                channel.shutdown_write()
                return
            channel.sendall(data)


@contextlib.contextmanager
def _raw(channel: paramiko.Channel, streams: Streams) -> Iterator[None]:
    """Every key goes to the command's own terminal, which has the size of this one."""
    if not streams.terminal or streams.stdin is None:
        yield
        return
    import termios
    import tty

    def resized(*_: Any) -> None:
        size = shutil.get_terminal_size()
        channel.resize_pty(size.columns, size.lines)

    before = termios.tcgetattr(streams.stdin)
    handler = signal.signal(signal.SIGWINCH, resized)
    try:
        tty.setraw(streams.stdin)
        yield
    finally:
        termios.tcsetattr(streams.stdin, termios.TCSADRAIN, before)
        signal.signal(signal.SIGWINCH, handler)
