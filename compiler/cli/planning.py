"""What `plan`, `apply`, `run` and `destroy` share: flags, printing, approval."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import click

from compiler.cli import output
from compiler.cli.options import every_target_option, target_option
from compiler.planning.outcomes import Action
from compiler.planning.plan import Plan
from compiler.workflow import Applied, PlanOptions, Waited


def plan_flags(command: Callable) -> Callable:
    for option in reversed(
        (
            target_option,
            every_target_option,
            click.option(
                "--work",
                "names",
                multiple=True,
                metavar="NAME",
                help="Only this work (repeatable).",
            ),
            click.option(
                "--rerun", is_flag=True, help="Run again what failed, was cancelled or is unknown."
            ),
            click.option(
                "--replace-running", is_flag=True, help="End running work that changed or went."
            ),
            click.option("--move", is_flag=True, help="Place anew, whatever was recorded."),
            click.option("--allow-empty", is_flag=True, help="An empty set deletes everything."),
            click.option(
                "--parallel", default=8, show_default=True, help="How many targets at once."
            ),
        )
    ):
        command = option(command)
    return command


def plan_options(arguments: Mapping[str, object], *, offline: bool = False) -> PlanOptions:
    return PlanOptions(
        offline=offline,
        rerun=arguments["rerun"],
        replace_running=arguments["replace_running"],
        move=arguments["move"],
        allow_empty=arguments["allow_empty"],
        every_target=arguments["every_target"],
        only=tuple(arguments["only"]),
        names=tuple(arguments["names"]),
        parallel=arguments["parallel"],
    )


def print_plan(plan: Plan, format: str, *, plan_file: str | None = None) -> None:
    if format == "json":
        from compiler.planning.plan_file import to_json

        click.echo(to_json(plan), nl=False)
    elif format == "markdown":
        from compiler.planning.views import markdown_view

        click.echo(markdown_view(plan, plan_file=plan_file), nl=False)
    else:
        from compiler.planning.views import text_view

        color = output.use_color(sys.stdout)
        click.echo(text_view(plan, color=color), nl=False, color=True)


def approve(plan: Plan, approved: bool) -> bool:
    """Whether to go on: asks on a terminal, refuses to guess anywhere else."""
    if not plan.has_changes:
        return True
    if not plan.applyable:
        click.echo("error: this plan cannot be applied (see above)", err=True)
        return False
    if approved:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError("nobody is here to approve the plan; add --auto-approve")
    return click.confirm("Apply these changes?", default=False, err=True)


def print_applied(applied: Applied, plan: Plan) -> int:
    """One line a change, then the total; returns the exit code."""
    for result in applied.results:
        change = result.change
        if result.error is not None:
            output.print_diagnostics(result.error.diagnostics)
            click.echo(f"failed: {change.address}: {result.error}", err=True)
            continue
        identity = (
            f" ({result.record.identity})" if result.record and result.record.identity else ""
        )
        note = f", {result.note}" if result.note else ""
        done = {Action.DELETE: "deleted"}.get(change.action, f"{change.action}d")
        click.echo(f"{change.address} run {change.run}: {done}{identity}{note}")
    for change in applied.refused:
        click.echo(f"refused: {change.address}: {change.reason}", err=True)
    if not applied.results and not applied.refused:
        click.echo("Nothing to do.")
    if applied.exit_code == 0 and not plan.complete:
        return 3
    return applied.exit_code


def wait_for_runs(stack, applied: Applied, until: str, timeout: float | None, progress) -> int:
    from compiler.workflow import wait

    names = sorted({result.change.work for result in applied.results if result.record is not None})
    names = [name for name in names if not name.startswith("_")]
    if not names:
        return 0
    verdict = wait(stack, names, until=until, timeout=timeout, progress=progress)
    if verdict is not Waited.SUCCEEDED:
        said = {Waited.NOT_FINISHED: f"not {until} in the time given"}.get(
            verdict, str(verdict.name).lower()
        )
        click.echo(f"error: {', '.join(names)}: {said}", err=True)
        return 1
    return 0
