"""`triplane migrate`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import click

from compiler.cli import options, output

_BY_SUFFIX = {".json": "json", ".md": "markdown", ".html": "html", ".htm": "html", ".txt": "text"}
_EVERY = 200
_NEEDS_OUT = (
    "warning: the task runs a copy of the script without its secrets, and only --out DIR writes it"
)


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": True})
@click.argument("scripts", nargs=-1, metavar="SCRIPT... | -- sbatch [OPTION]... SCRIPT [ARG]...")
@click.option(
    "--out",
    metavar="DIR",
    callback=options.not_empty,
    help="Write the tasks there, one file a script.",
)
@click.option(
    "--report",
    "report_path",
    metavar="FILE",
    callback=options.not_empty,
    help="Write the report there (.txt .json .md .html).",
)
@click.option(
    "--to",
    "target",
    type=click.Choice(("slurm", "kubernetes", "aws")),
    default="slurm",
    show_default=True,
    help="Where the tasks are to run.",
)
@click.option("--stack", "stack_path", metavar="FILE", help="Take clusters and GPU types from it.")
@click.option(
    "--submit-dir",
    metavar="DIR",
    help="The folder that sbatch is called in; @script: the one of each script.",
)
@click.option("--slurm-version", metavar="VERSION", help="Read options as this Slurm does.")
@click.option("--keep", is_flag=True, help="Keep every script as it is.")
@click.option(
    "--smoke", is_flag=True, help="Also write variants on one node to try first, to DIR-smoke."
)
@click.option("--shim", is_flag=True, help="Export Slurm's variables on other targets.")
@click.option(
    "--check", "checks", is_flag=True, help="Render the tasks and compare what sbatch understands."
)
@click.option(
    "--existing",
    type=click.Choice(("keep", "update", "overwrite")),
    default="keep",
    show_default=True,
    help="What becomes of a task in --out that says something else already.",
)
@click.option("--jobs", type=click.IntRange(1), help="Processes to use.  [default: the CPUs]")
@options.format_option("text", "json", "markdown", "html")
@options.quiet_option
def command(
    scripts,
    out,
    report_path,
    target,
    stack_path,
    submit_dir,
    slurm_version,
    keep,
    smoke,
    shim,
    checks,
    existing,
    jobs,
    format,
    quiet,
) -> int:
    """Turn sbatch scripts into task YAML and a report; nothing is submitted.

    \b
    Examples:
      triplane migrate job.sh >job.yaml
      triplane migrate job.sh --out tasks/ --submit-dir @script
      triplane migrate scripts/ --out tasks/ --report report.html
      triplane migrate -- sbatch -N4 job.sh --epochs 10

    Without --out the task goes to standard output and the report to standard error. The exit
    code is 1 where a script is refused by sbatch or cannot be read.
    """
    from compiler.workflow import migrate, migrate_command, migration_settings

    if not scripts:
        raise click.UsageError("no script is named")
    if smoke and out is None:
        raise click.UsageError("--smoke writes files: say where with --out")
    settings = migration_settings(
        target=target,
        stack=options.open_stack(stack_path) if stack_path else None,
        version=slurm_version,
        submit_folder=submit_dir,
        keep=keep,
        shim=shim,
        smoke=smoke,
        existing=existing,
    )
    single = len(scripts) == 1 and not Path(scripts[0]).is_dir()
    if scripts[0].rpartition("/")[2] in ("sbatch", "salloc", "srun") and len(scripts) > 1:
        results = iter([migrate_command(scripts, settings, out=out)])
        count, single = 1, True
    else:
        found = migrate(scripts, settings, out=out, workers=jobs or os.cpu_count() or 1)
        results, count = found.results, found.count
    if checks:
        from compiler.workflow import checked

        results = checked(results, settings)
    results = _watched(results, count, quiet)
    return _report(results, format, report_path, out, single)


def _watched(results: Iterator, count: int, quiet: bool) -> Iterator:
    """The results, with a line of progress now and then."""
    progress = output.Progress(quiet or count < _EVERY)
    for number, result in enumerate(results, start=1):
        if number % _EVERY == 0 or number == count:
            progress(f"{number} of {count} scripts")
        yield result


def _report(results: Iterator, format: str, report_path: str | None, out, single: bool) -> int:
    """Write the report to where it belongs; returns the exit code."""
    from compiler.workflow import write_report

    if report_path is not None:
        suffix = Path(report_path).suffix.lower()
        kind = _BY_SUFFIX.get(suffix)
        if kind is None:
            raise click.UsageError(f"a report is .txt, .json, .md or .html, not {suffix!r}")
        with open(report_path, "w", encoding="utf-8", errors="replace") as file:
            summary = write_report(_and_show(results, out, single), kind, file, single)
        _print_text(summary, sys.stdout if out else sys.stderr)
        return summary.exit_code
    if format == "text":
        stream = sys.stdout if out or not single else sys.stderr
        summary = write_report(_and_show(results, out, single), format, _Echo(stream), single)
    else:
        summary = write_report(results, format, _Echo(sys.stdout), single)
    return summary.exit_code


def _and_show(results: Iterator, out: str | None, single: bool) -> Iterator:
    """The results; where no file is written and there is one script, its task is printed."""
    for result in results:
        if out is None and single and result.yaml is not None:
            click.echo(result.yaml, nl=False)
            if result.script is not None:
                click.echo(_NEEDS_OUT, err=True)
        yield result


def _print_text(summary, stream) -> None:
    click.echo(summary.text(), nl=False, err=stream is sys.stderr)


class _Echo:
    """A stream for `write_report` over click's, which knows about closed pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._err = stream is sys.stderr

    def write(self, text: str) -> None:
        click.echo(text, nl=False, err=self._err)
