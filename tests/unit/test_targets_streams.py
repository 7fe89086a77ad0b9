"""The ends of a command's streams in this process."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import termios
import threading

import pytest

from compiler.targets import streams as ends
from compiler.targets.interface import Streams


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    for file in (reader, writer):
        try:
            os.close(file)
        except OSError:  # the test closed it
            continue


def handed_on(stdin: int, until: threading.Event, **more) -> list[bytes]:
    """What is sent until the event, and `b"<end>"` for the end of the input."""
    got: list[bytes] = []

    def finish() -> None:
        got.append(b"<end>")
        until.set()

    def send(data: bytes) -> None:
        got.append(data)
        if more.get("fails"):
            until.set()
            raise more["fails"]
        if data.endswith(b"stop"):
            until.set()

    with ends.sending(Streams(stdin, 1, 2), send, finish, more.get("gone", OSError)):
        assert until.wait(20)
    return got


def test_input_is_handed_on_to_its_end(pipe) -> None:
    reader, writer = pipe
    os.write(writer, b"some words")
    os.close(writer)
    assert handed_on(reader, threading.Event()) == [b"some words", b"<end>"]


def test_a_plain_file_is_handed_on(tmp_path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"x" * (ends.PIECE + 1))
    with path.open("rb") as file:
        got = handed_on(file.fileno(), threading.Event())
    assert [len(data) for data in got] == [ends.PIECE, 1, len(b"<end>")]


def test_the_command_s_end_does_not_wait_for_more_input(pipe) -> None:
    reader, writer = pipe
    os.write(writer, b"stop")
    assert handed_on(reader, threading.Event()) == [b"stop"]


@pytest.mark.parametrize(("fails", "gone"), [(OSError(), OSError), (KeyError(), KeyError)])
def test_nobody_hears_it_any_more(pipe, fails, gone) -> None:
    reader, writer = pipe
    os.write(writer, b"words")
    assert handed_on(reader, threading.Event(), fails=fails, gone=gone) == [b"words"]


def test_everything_is_written(pipe) -> None:
    reader, writer = pipe
    data = os.urandom(1 << 18)
    got = bytearray()

    def read() -> None:
        while piece := os.read(reader, 1 << 16):
            got.extend(piece)

    thread = threading.Thread(target=read)
    thread.start()
    ends.write(writer, data)
    os.close(writer)
    thread.join(20)
    assert bytes(got) == data


def test_a_terminal_is_raw_for_the_time_and_its_size_is_told() -> None:
    mine, theirs = pty.openpty()
    told: list[tuple[int, int]] = []

    def resize(columns: int, lines: int) -> None:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    streams = Streams(theirs, theirs, theirs, terminal=True)
    before = termios.tcgetattr(theirs)
    handler = signal.getsignal(signal.SIGWINCH)
    resize(80, 24)
    with ends.raw(streams), ends.resizing(streams, lambda *size: told.append(size)):
        assert not termios.tcgetattr(theirs)[3] & termios.ICANON
        resize(132, 50)
        signal.raise_signal(signal.SIGWINCH)
    assert termios.tcgetattr(theirs) == before
    assert signal.getsignal(signal.SIGWINCH) == handler
    assert told == [(80, 24), (132, 50)]
    os.close(mine)
    os.close(theirs)


def test_what_is_no_terminal_is_left_alone(pipe) -> None:
    reader, _ = pipe
    told: list[tuple[int, int]] = []
    streams = Streams(reader, 1, 2)
    with ends.raw(streams), ends.resizing(streams, lambda *size: told.append(size)):
        pass
    assert told == []
