"""`triplane exec`"""

from __future__ import annotations

import os
import sys
from typing import TextIO

import click

from compiler.cli import options, output


@click.command(context_settings={"ignore_unknown_options": True})
@options.name_argument
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@options.stack_option
@click.option("--run", "number", type=int, metavar="N", help="That run instead of the last.")
@click.option("--rank", type=click.IntRange(0), default=0, show_default=True, help="On which rank.")
@options.task_option
@click.option(
    "--tty/--no-tty", "-t", default=False, help="Give the command a terminal, as `shell` does."
)
def command(name, words, stack_path, number, rank, task, tty) -> int:
    """Run a command beside the live run of NAME, in its environment and folder.

    Input is handed on; the exit code is the command's. It should stand behind `--`.

    \b
    Examples:
      triplane exec llama-pretrain --stack stacks/prod.yaml -- nvidia-smi
      triplane exec llama-pretrain --rank 3 --stack stacks/prod.yaml -- tail -n 5 train.log
      triplane exec rl-math --task actor --stack stacks/prod.yaml -- free -g
    """
    if tty and not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stdout)):
        raise click.UsageError("--tty needs a terminal as input and output")
    return run(stack_path, name, words, number=number, rank=rank, task=task, terminal=tty)


def run(stack_path, name, words, *, number, rank, task, terminal) -> int:
    """What `exec` and `shell` share."""
    from compiler.targets.interface import Streams
    from compiler.workflow import exec_in

    sys.stdout.flush()
    stdin = 0 if _is_open(0) else None
    streams = Streams(stdin, _file(sys.stdout, 1), _file(sys.stderr, 2), terminal)
    stack = options.open_stack(stack_path)
    return exec_in(stack, name, words, streams, run=number, rank=rank, task=task)


def _file(stream: TextIO, usual: int) -> int:
    try:
        return stream.fileno()
    except OSError:  # it is one of Python's own
        return usual


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False
    return True
