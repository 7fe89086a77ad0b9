"""`triplane apply`"""

from __future__ import annotations

from pathlib import Path

import click

from compiler.cli import options, output, planning

_PLANS = 4  # how often a world that does not stand still is planned for


@click.command()
@options.paths_argument
@click.option(
    "--stack",
    "stack_path",
    envvar="TRIPLANE_STACK",
    metavar="FILE",
    help="The stack file (a saved plan names its own).",
)
@options.requester_option
@click.option("--auto-approve", is_flag=True, help="Do not ask before changing anything.")
@click.option(
    "--wait",
    "wait_for",
    type=click.Choice(["accepted", "running", "finished"]),
    default="accepted",
    show_default=True,
    help="When to return.",
)
@options.timeout_option("How long --wait may take.")
@options.lock_timeout_option
@options.format_option("text", "json")
@options.quiet_option
@planning.plan_flags
@options.override_options
def command(paths, stack_path, auto_approve, wait_for, timeout, format, quiet, **arguments) -> int:
    """Carry out a saved plan FILE, or plan PATHs (or the whole set) and carry that out.

    A saved plan is applied byte for byte or not at all: exit code 4 says what moved.

    \b
    Examples:
      triplane apply --stack stacks/prod.yaml
      triplane apply tasks/train.yaml --stack stacks/prod.yaml --auto-approve --wait running
      triplane apply plan.json
    """
    from compiler.workflow import apply_plan, locator, open_plan

    overrides = options.overrides_from(arguments)
    progress = output.Progress(quiet)
    saved = _saved_plan(paths)
    if saved is not None:
        _require_no_flags(arguments)
        opened = open_plan(saved, stack_path, overrides=overrides, environ=options.environ())
        the_plan, stack = opened.plan, opened.stack
        if not planning.approve(the_plan, True):
            return 1
        locate = locator(opened.works, stack)
        applied = apply_plan(
            the_plan,
            stack,
            opened.secrets,
            progress,
            locate,
            lock_timeout=arguments["lock_timeout"],
        )
    else:
        if not stack_path:
            raise click.UsageError("Missing option '--stack' (only a saved plan goes without).")
        stack = options.open_stack(stack_path, arguments["override_policy"])
        made = _planned_and_applied(
            paths, stack, arguments, auto_approve, format == "json", overrides, progress
        )
        if made is None:
            return 1
        the_plan, applied = made
    code = planning.print_applied(applied, the_plan, format)
    if code == 0 and wait_for != "accepted":
        code = planning.wait_for_runs(stack, applied, wait_for, timeout, progress)
    return code


def _planned_and_applied(paths, stack, arguments, auto_approve, err, overrides, progress):
    """The plan and what came of it, None where it was not approved. What moved between the two,
    a job that started or ended, is planned again: nobody has been promised the old plan."""
    from compiler.diagnostics import PlanOutdated
    from compiler.workflow import apply_plan, locator, plan, secrets_for

    for left in reversed(range(_PLANS)):
        with output.taking_long(f"planning set {stack.set_name} on {', '.join(stack.targets)}"):
            planned = plan(
                paths,
                stack,
                options=planning.plan_options(arguments),
                overrides=overrides,
                environ=options.environ(),
            )
        output.print_diagnostics(planned.diagnostics, "concise")
        planning.print_plan(planned.plan, "text", err=err)
        if not planning.approve(planned.plan, auto_approve):
            return None
        secrets, locate = secrets_for(planned, stack), locator(planned.loaded.works, stack)
        try:
            applied = apply_plan(
                planned.plan,
                stack,
                secrets,
                progress,
                locate,
                fresh=True,
                lock_timeout=arguments["lock_timeout"],
            )
        except PlanOutdated as error:
            if not left:
                raise
            click.echo(f"{error}; planning again", err=True)
            continue
        moved = [item.error for item in applied.failed if isinstance(item.error, PlanOutdated)]
        if not moved or not left:
            return planned.plan, applied
        click.echo(f"{moved[0]}; planning again", err=True)
    return None


def _saved_plan(paths) -> str | None:
    """The path, if the only one given is a saved plan and not YAML to be planned."""
    plans = [path for path in paths if _is_plan(path)]
    if plans and len(paths) > 1:
        raise click.UsageError("a saved plan is applied alone, without other paths")
    return plans[0] if plans else None


def _is_plan(path: str) -> bool:
    """By its beginning, or by a name that no YAML file has."""
    from compiler.planning.plan_file import is_plan

    try:
        if path == "-" or Path(path).is_dir():
            return False
        if Path(path).suffix == ".json":
            return True
        if not Path(path).is_file():  # opening a pipe would wait for who writes to it
            return False
        with open(path, "rb") as file:
            return is_plan(file.read(100).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return False  # whoever reads it as YAML says what is wrong


_LISTS = {
    "--target": "only",
    "--work": "names",
    "--label": "labels",
    "--override-policy": "override_policy",
}


def _require_no_flags(arguments) -> None:
    context = click.get_current_context()
    given = [
        f"--{name.replace('_', '-')}"
        for name in (
            "every_target",
            "rerun",
            "replace_running",
            "move",
            "allow_empty",
            "delete_volumes",
            "group",
        )
        if arguments[name]
    ]
    if options.requester_given():
        given.append("--requester")
    given += [flag for flag, name in _LISTS.items() if arguments[name]]
    if given:
        raise click.UsageError(
            f"{', '.join(given)}: a saved plan is applied as it is; make another one", context
        )
