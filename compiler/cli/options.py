"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from compiler.cli import output
from compiler.cli.completing import complete_stacks, complete_targets, complete_works

if TYPE_CHECKING:
    from compiler.model import Overrides, Stack

_REQUESTER = "triplane.requester"

paths_argument = click.argument("paths", nargs=-1, metavar="[PATH]...")
required_paths = click.argument("paths", nargs=-1, required=True, metavar="PATH...")


def requester_option(command: Callable) -> Callable:
    """Who asks; kept beside the command's own arguments, for `open_stack`."""

    def keep(context: click.Context, _: click.Parameter, value: str | None) -> None:
        context.meta[_REQUESTER] = value

    return click.option(
        "--requester",
        metavar="NAME",
        expose_value=False,
        callback=keep,
        help="Who asks, where jobs run under people's own accounts.  [default: the variable "
        "that the stack names]",
    )(command)


def stack_option(command: Callable) -> Callable:
    command = requester_option(command)
    return click.option(
        "--stack",
        "stack_path",
        envvar="TRIPLANE_STACK",
        required=True,
        metavar="FILE",
        help="The stack file: which targets exist and what the set is.  [env: TRIPLANE_STACK]",
        shell_complete=complete_stacks,
    )(command)


def format_option(*formats: str) -> Callable:
    """`--format`; `main` looks it up to answer in the same format where the command fails."""

    def keep(context: click.Context, _: click.Parameter, value: str) -> str:
        context.meta[output.FORMAT] = value
        return value

    return click.option(
        "--format",
        "format",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        callback=keep,
        help="How to print the result.",
    )


def not_empty(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """For options that name a file: an unset variable of a shell is no name, and no absence."""
    if value == "":
        raise click.BadParameter("is empty", ctx, param)
    return value


def timeout_option(help: str) -> Callable:
    return click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help=help)


names_argument = click.argument(
    "names", nargs=-1, metavar="[NAME]...", shell_complete=complete_works
)
name_argument = click.argument("name", shell_complete=complete_works)
task_option = click.option(
    "--task", metavar="TASK", help="In which task of a group; ranks are then those of that task."
)
lock_timeout_option = click.option(
    "--lock-timeout",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SECONDS",
    help="Wait so long for another apply of the set; without it that is an error at once.",
)
target_option = click.option(
    "--target",
    "only",
    multiple=True,
    metavar="KEY",
    help="Only this target (repeatable).",
    shell_complete=complete_targets,
)
every_target_option = click.option(
    "--every-target",
    is_flag=True,
    help="Render each task for every target that can take it, not only where it is placed.",
)
override_policy_option = click.option(
    "--override-policy",
    multiple=True,
    metavar="RULE",
    help="Let pass what this rule of the stack's policy forbids; the plan records it.",
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress.")


def override_options(command: Callable) -> Callable:
    """The task overrides that SkyPilot's own command line has."""
    for option in reversed(
        (
            click.option("--name", metavar="NAME", help="Override the task's name."),
            click.option("--gpus", metavar="GPU:N", help="Override resources.accelerators."),
            click.option("--num-nodes", type=int, metavar="N", help="Override num_nodes."),
            click.option("--infra", metavar="INFRA", help="Override resources.infra."),
            click.option("--workdir", metavar="DIR", help="Override workdir."),
            click.option(
                "--env",
                multiple=True,
                metavar="NAME[=VALUE]",
                help="Set a variable; without VALUE it is taken from the environment.",
            ),
            click.option(
                "--secret",
                multiple=True,
                metavar="NAME[=VALUE]",
                help="Hand over a secret; without VALUE it is taken from the environment.",
            ),
            click.option(
                "--config",
                multiple=True,
                metavar="KEY=VALUE",
                help="Set a key of the task's config, as in kubernetes.provision_timeout=600.",
            ),
        )
    ):
        command = option(command)
    return command


def overrides_from(arguments: Mapping[str, Any]) -> Overrides:
    """The Overrides that `override_options` collected."""
    from compiler.model import Overrides

    return Overrides(
        name=arguments["name"],
        gpus=arguments["gpus"],
        num_nodes=arguments["num_nodes"],
        infra=arguments["infra"],
        workdir=arguments["workdir"],
        env=tuple(_pair(item) for item in arguments["env"]),
        secret=tuple(_pair(item) for item in arguments["secret"]),
        config=tuple(_required_pair(item, "--config") for item in arguments["config"]),
    )


def open_stack(path: str, override_policy: Sequence[str] = ()) -> Stack:
    """The stack, or InvalidInput with everything that is wrong with it.

    `override_policy` are the rules of its policy that this command lets pass.
    """
    from compiler.diagnostics import Diagnostics
    from compiler.workflow import letting_pass, load_stack

    if not path.strip():
        raise click.UsageError("--stack is empty: name the stack file")
    diagnostics = Diagnostics()
    stack = load_stack(path, diagnostics)
    diagnostics.raise_if_errors()
    assert stack is not None
    stack = replace(stack, requester=requester_for(stack))
    return letting_pass(stack, override_policy) if override_policy else stack


def requester_given() -> str | None:
    """The value of `--requester`."""
    context = click.get_current_context(silent=True)
    return context.meta.get(_REQUESTER) if context else None


def requester_for(stack: Stack) -> str | None:
    """Who asks: `--requester`, else the value of the variable that the stack names."""
    return (
        requester_given()
        or (os.environ.get(stack.requester_env) if stack.requester_env else None)
        or None
    )


def environ() -> Mapping[str, str]:
    return os.environ


def _pair(text: str) -> tuple[str, str | None]:
    name, sign, value = text.partition("=")
    return name, value if sign else None


def _required_pair(text: str, option: str) -> tuple[str, str]:
    name, value = _pair(text)
    if value is None:
        raise click.UsageError(f"{option} takes KEY=VALUE, not {text!r}")
    return name, value
