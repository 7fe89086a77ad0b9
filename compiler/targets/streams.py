"""The streams of this process, handed on to a command somewhere else: input, keys, size.

What a connection is differs from platform to platform; what is done at this end does not.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import threading
from collections.abc import Callable, Iterator

from compiler.targets.interface import Streams

PIECE = 1 << 15


def write(file: int, data: bytes) -> None:
    """All of it, however little a pipe takes at once."""
    while data:
        data = data[os.write(file, data) :]


@contextlib.contextmanager
def sending(
    streams: Streams,
    send: Callable[[bytes], object],
    finish: Callable[[], object],
    gone: type[Exception] = OSError,
) -> Iterator[None]:
    """Hands the input on, in a thread of its own, until it ends (then `finish` is called) or the
    block does. `gone` is what `send` raises when there is nobody to hear it; there is no thread
    where there is no input."""
    if streams.stdin is None:
        yield
        return
    wake, waker = os.pipe()
    thread = threading.Thread(
        target=_send, args=(streams.stdin, wake, send, finish, gone), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        os.close(waker)
        thread.join()
        os.close(wake)


def _send(
    stdin: int,
    wake: int,
    send: Callable[[bytes], object],
    finish: Callable[[], object],
    gone: type[Exception],
) -> None:
    with selectors.DefaultSelector() as ready, contextlib.suppress(gone, OSError):
        ready.register(wake, selectors.EVENT_READ)
        try:
            ready.register(stdin, selectors.EVENT_READ)
            always = False
        except PermissionError:  # a plain file, which can always be read
            always = True
        while True:
            woken = {key.fd for key, _ in ready.select(0 if always else None)}
            if wake in woken:
                return
            data = os.read(stdin, PIECE)
            if not data:
                break
            send(data)
        finish()


@contextlib.contextmanager
def raw(streams: Streams) -> Iterator[None]:
    """Every key goes to the command's own terminal, Ctrl-C too."""
    if not streams.terminal or streams.stdin is None:
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(streams.stdin)
    tty.setraw(streams.stdin, termios.TCSADRAIN)  # what was typed ahead is kept
    try:
        yield
    finally:
        termios.tcsetattr(streams.stdin, termios.TCSADRAIN, before)


@contextlib.contextmanager
def resizing(streams: Streams, tell: Callable[[int, int], object]) -> Iterator[None]:
    """Tells (columns, lines) of the terminal, now and, in the main thread, whenever they change."""
    if not streams.terminal:
        yield
        return

    def changed(*_: object) -> None:
        size = os.get_terminal_size(streams.stdout)
        tell(size.columns, size.lines)

    changed()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGWINCH, changed)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
