"""`triplane wait`"""

from __future__ import annotations

import click

from compiler.cli import options, output


@click.command()
@options.names_argument
@options.stack_option
@click.option(
    "--for",
    "until",
    type=click.Choice(["running", "finished"]),
    default="finished",
    show_default=True,
)
@options.timeout_option("How long to wait at most.")
@options.format_option("text", "json")
@options.quiet_option
def command(names, stack_path, until, timeout, format, quiet) -> int:
    """Wait until the last runs of NAMEs (default: all) are running or finished.

    Its own exit codes: 0 succeeded, 100 failed, 101 not finished in the time given,
    102 unknown, 103 cancelled.

    \b
    Examples:
      triplane wait llama-pretrain --stack stacks/prod.yaml --timeout 3600
      triplane wait --for running --stack stacks/prod.yaml
    """
    from compiler.workflow import wait

    stack = options.open_stack(stack_path)
    progress = output.Progress(quiet)
    waited = wait(stack, names, until=until, timeout=timeout, progress=progress)
    result = waited.name.lower().replace("_", " ")
    if format == "json":
        output.print_json("waited", {"result": result, "exit_code": int(waited)})
    else:
        click.echo(result)
    return int(waited)
