"""The entry point: finds the command, and turns every failure into a message and an exit code."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from compiler import __version__
from compiler.diagnostics import TriplaneError

USAGE_EXIT = 64
INTERRUPTED_EXIT = 130
# Commands whose exit code says nothing about anybody's work.
READ_ALONE = ("schema", "explain", "catalog", "completion", "logs", "status", "render", "why")

# In the order in which a newcomer meets them; the first sentence of each module's help.
COMMANDS = {
    "validate": "Check task, group, volume and stack files.",
    "render": "Write the native artifacts of a stack's tasks to a folder.",
    "diff": "Compare what is rendered now with a folder or a git revision.",
    "plan": "Show what an apply would change, and why.",
    "apply": "Carry out a plan.",
    "run": "Start one more run of a task now.",
    "status": "Show the runs of a set with their live states.",
    "logs": "Print the logs of a run, all ranks together.",
    "wait": "Wait until runs are running or finished.",
    "cancel": "End live runs.",
    "stop": "Give the nodes of runs in containers back, to start them again later.",
    "start": "Start stopped runs again.",
    "exec": "Run a command beside a live run.",
    "shell": "Open a shell beside a live run.",
    "destroy": "Remove what a set owns, after a plan.",
    "check": "Ask each target of a stack whether it can be used.",
    "unlock": "Break the locks that a dead apply left behind.",
    "why": "Say which YAML and which rule made a line of a rendered file.",
    "migrate": "Turn sbatch scripts into task YAML, with a report.",
    "schema": "Print a JSON Schema.",
    "explain": "Explain a field of the dialect.",
    "completion": "Print the completion script of a shell.",
    "catalog": "List accelerators and the instance types that have them.",
}


class _Lazy(click.Group):
    """Imports a command's module only when that command is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"compiler.cli.commands.{cmd_name}")
        return module.command

    def resolve_command(self, ctx: click.Context, args: list[str]):
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from compiler.source.suggestions import suggest

            close = suggest(args[0], COMMANDS)
            hint = f"did you mean `{close}`?" if close else "triplane --help lists them"
            raise click.UsageError(f"no command {args[0]!r}; {hint}", error.ctx) from None

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (TriplaneError, OSError) as error:
            if not isinstance(error, BrokenPipeError):
                from compiler.cli.output import answer_failure

                answer_failure(ctx, error)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 wrong input or failed work, 2 changes found "
    "(--detailed-exitcode), 3 a target could not be reached, 4 the saved plan no longer "
    "matches, 64 wrong usage, 130 interrupted.",
)
@click.version_option(__version__, prog_name="triplane")
def cli() -> None:
    """Compile SkyPilot-dialect YAML to Kubernetes, Slurm and AWS, and apply it by plan."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; returns its exit code and never raises."""
    _accept_any_text()
    try:
        result = cli.main(
            args=list(arguments) if arguments is not None else None,
            prog_name="triplane",
            standalone_mode=False,
        )
        if sys.stdout is not None:
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.UsageError as error:
        error.show()
        return USAGE_EXIT
    except click.ClickException as error:
        error.show()
        return 1
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED_EXIT
    except (BrokenPipeError, SystemExit) as error:
        # click ends the program by itself: with 1 where the reader has gone, with 0 when a
        # shell has been told its completions.
        if isinstance(error, SystemExit) and not error.code:
            return 0
        words = sys.argv[1:] if arguments is None else arguments
        return _reader_has_gone(next(iter(words), ""))
    except TriplaneError as error:
        from compiler.cli.output import print_error

        print_error(error)
        return error.exit_code
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"error: {where}{error.strerror or error}", err=True)
        return 1
    except Exception as error:
        if os.environ.get("TRIPLANE_TRACEBACK"):
            raise
        click.echo(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a bug in triplane; TRIPLANE_TRACEBACK=1 shows where it happened.",
            err=True,
        )
        return 1


def _accept_any_text() -> None:
    """Print what the terminal's encoding lacks (a file's name, say) as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _reader_has_gone(command: str) -> int:
    """Output has no reader any more (`| head`). That is no failure of what is there to be read;
    of everything else nobody knows whether it was done, or right."""
    _drop_the_rest(sys.__stdout__)
    return 0 if command in READ_ALONE else 1


def _drop_the_rest(stream: TextIO | None) -> None:
    """What is still buffered goes nowhere if nobody reads it, so that the interpreter neither
    complains at exit nor ends with a code of its own."""
    if stream is None:
        return
    try:
        stream.flush()
    except ValueError:
        return  # it is closed
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def entry() -> None:
    """The `triplane` command. A request to end is an interrupt: locks are given back."""
    signal.signal(signal.SIGTERM, _interrupt)
    code = main()
    _drop_the_rest(sys.__stderr__)
    sys.exit(code)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
