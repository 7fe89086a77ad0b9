"""`triplane destroy`"""

from __future__ import annotations

import click

from compiler.cli import options, output, planning


@click.command()
@options.names_argument
@options.stack_option
@options.target_option
@planning.delete_volumes_option
@click.option("--auto-approve", is_flag=True, help="Do not ask before deleting anything.")
@options.lock_timeout_option
@options.format_option("text", "json")
@options.quiet_option
def command(
    names, stack_path, only, delete_volumes, auto_approve, lock_timeout, format, quiet
) -> int:
    """Remove the works NAME, or everything that the set owns; the plan is shown first.

    Live runs are cancelled, and with a group's run what joined it. Records of runs that ended
    stay, and so do volumes without --delete-volumes.

    \b
    Examples:
      triplane destroy llama-pretrain --stack stacks/prod.yaml
      triplane destroy --stack stacks/dev.yaml --auto-approve
    """
    from compiler.workflow import apply_plan, plan_destroy

    stack = options.open_stack(stack_path)
    with output.taking_long(f"asking {', '.join(only or stack.targets)}"):
        planned = plan_destroy(stack, names, only=only, delete_volumes=delete_volumes)
    planning.print_plan(planned.plan, "text", err=format == "json")
    if not planning.approve(planned.plan, auto_approve):
        return 1
    progress = output.Progress(quiet)
    applied = apply_plan(planned.plan, stack, {}, progress, lock_timeout=lock_timeout)
    return planning.print_applied(applied, planned.plan, format)
