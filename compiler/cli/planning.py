"""What `plan`, `apply`, `run` and `destroy` share: flags, printing, approval."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from compiler.cli import output
from compiler.cli.completing import complete_works
from compiler.cli.options import every_target_option, override_policy_option, target_option

# Nothing that plans is imported before something is planned: help and completion are quick.
if TYPE_CHECKING:
    from compiler.planning.plan import Plan
    from compiler.workflow import Applied, PlanOptions, StepResult

delete_volumes_option = click.option(
    "--delete-volumes", is_flag=True, help="Let volumes go that went or changed, with their data."
)
group_option = click.option(
    "--group", metavar="NAME", help="The running job group that the task at PATH joins."
)


def plan_flags(command: Callable) -> Callable:
    for option in reversed(
        (
            target_option,
            every_target_option,
            override_policy_option,
            click.option(
                "--work",
                "names",
                multiple=True,
                metavar="NAME",
                help="Only this work (repeatable).",
                shell_complete=complete_works,
            ),
            click.option(
                "--label",
                "labels",
                multiple=True,
                metavar="KEY[=VALUE]",
                help="Only works with this label (repeatable).",
            ),
            click.option(
                "--rerun", is_flag=True, help="Run again what failed, was cancelled or is unknown."
            ),
            click.option(
                "--replace-running", is_flag=True, help="End running work that changed or went."
            ),
            delete_volumes_option,
            group_option,
            click.option("--move", is_flag=True, help="Place anew, whatever was recorded."),
            click.option("--allow-empty", is_flag=True, help="An empty set deletes everything."),
            click.option(
                "--parallel",
                type=click.IntRange(1),
                default=8,
                show_default=True,
                help="How many targets at once.",
            ),
        )
    ):
        command = option(command)
    return command


def plan_options(
    arguments: Mapping[str, Any], *, offline: bool = False, read_only: bool = False
) -> PlanOptions:
    from compiler.workflow import PlanOptions

    return PlanOptions(
        offline=offline,
        read_only=read_only,
        rerun=arguments["rerun"],
        replace_running=arguments["replace_running"],
        move=arguments["move"],
        delete_volumes=arguments["delete_volumes"],
        group=arguments["group"],
        allow_empty=arguments["allow_empty"],
        every_target=arguments["every_target"],
        only=tuple(arguments["only"]),
        names=tuple(arguments["names"]),
        labels=tuple(arguments["labels"]),
        parallel=arguments["parallel"],
    )


def print_plan(
    plan: Plan,
    format: str,
    *,
    plan_file: str | None = None,
    err: bool = False,
    sources: Mapping[str, Mapping[int, str]] | None = None,
) -> None:
    """The plan, on standard error where the command has another result; `sources` as for
    `html_view`."""
    stream = sys.stderr if err else sys.stdout
    if format == "json":
        from compiler.planning.plan_file import to_json

        text = to_json(plan)
        output.note_answer()
    elif format == "markdown":
        from compiler.planning.views import markdown_view

        text = markdown_view(plan, plan_file=plan_file)
    elif format == "html":
        from compiler.planning.views import html_view

        text = html_view(plan, plan_file=plan_file, sources=sources)
    else:
        from compiler.planning.views import text_view

        width = output.width(stream) if output.is_terminal(stream) else None
        text = text_view(plan, color=output.use_color(stream), width=width)
    click.echo(text, nl=False, err=err, color=output.use_color(stream))


def approve(plan: Plan, approved: bool) -> bool:
    """Whether to go on: asks on a terminal, refuses to guess anywhere else."""
    if not plan.has_changes:
        return True
    if not plan.applyable:
        click.echo("error: this plan cannot be applied (see above)", err=True)
        return False
    if approved:
        return True
    if not output.is_terminal(sys.stdin):
        raise click.UsageError("nobody is here to approve the plan; add --auto-approve")
    if click.confirm("Apply these changes?", default=False, err=True):
        return True
    click.echo("nothing was changed", err=True)
    return False


def print_applied(applied: Applied, plan: Plan, format: str = "text") -> int:
    """One line a change, or one JSON document; returns the exit code."""
    code = applied.exit_code
    if code == 0 and plan.unreachable:
        code = 3
    for result in applied.failed:
        assert result.error is not None
        output.print_diagnostics(result.error.diagnostics)
        click.echo(f"failed: {result.change.address}: {result.error}", err=True)
    for change in applied.refused:
        click.echo(f"refused: {change.address}: {change.reason}", err=True)
    if format == "json":
        output.print_json(
            "applied",
            {
                "set": plan.set,
                "exit_code": code,
                "results": [_result(item) for item in applied.results],
                "refused": [
                    {"work": item.work, "target": item.target, "reason": item.reason}
                    for item in applied.refused
                ],
            },
        )
        return code
    for result in applied.results:
        if result.error is None:
            click.echo(_line(result))
    if not applied.results and not applied.refused:
        click.echo(_nothing(plan))
    return code


def _nothing(plan: Plan) -> str:
    if plan.unreachable:
        away = ", ".join(item.target for item in plan.unreachable)
        return f"Nothing was done: {away} could not be reached."
    return "Nothing to do."


def _line(result: StepResult) -> str:
    change, record = result.change, result.record
    identity = f" ({record.identity})" if record and record.identity else ""
    note = f", {result.note}" if result.note else ""
    return f"{change.address} run {change.run}: {change.action}d{identity}{note}"


def _result(result: StepResult) -> dict[str, object]:
    change, record = result.change, result.record
    return {
        "work": change.work,
        "target": change.target,
        "kind": change.kind,
        "action": str(change.action),
        "run": change.run,
        "identity": record.identity if record else None,
        "ok": result.error is None,
        "note": result.note,
        "error": str(result.error) if result.error else None,
    }


def wait_for_runs(stack, applied: Applied, until: str, timeout: float | None, progress) -> int:
    """Wait for what was applied; 1 unless all of it came to be as asked."""
    from compiler.planning.states import RunState
    from compiler.workflow import Waited, status, wait

    awaited = [result.change for result in applied.results if _runs(result, stack)]
    names = sorted({change.work for change in awaited})
    if not names:
        return 0
    verdict = wait(stack, names, until=until, timeout=timeout, progress=progress)
    if verdict is Waited.SUCCEEDED:
        return 0
    if verdict is Waited.NOT_FINISHED:
        click.echo(f"error: {', '.join(names)}: not {until} in the time given", err=True)
        return 1
    runs = {(change.work, change.run) for change in awaited}
    for run in status(stack, names).runs:
        if (run.work, run.run) in runs and run.state is not RunState.SUCCEEDED:
            click.echo(f"error: {run.work} run {run.run}: {run.state}", err=True)
    return 1


def _runs(result: StepResult, stack) -> bool:
    """Whether there is a run to wait for: nobody knows what becomes of written files."""
    from compiler.model import Deployer
    from compiler.planning.outcomes import Action

    change = result.change
    if result.record is None or change.action is Action.DELETE or change.work.startswith("_"):
        return False
    return stack.targets[change.target].deployer is not Deployer.DIRECTORY
