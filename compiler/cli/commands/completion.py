"""`triplane completion`"""

from __future__ import annotations

import click

# Where each shell looks for it by itself.
_PLACES = {
    "bash": "~/.local/share/bash-completion/completions/triplane",
    "zsh": "a file `_triplane` in a folder of $fpath",
    "fish": "~/.config/fish/completions/triplane.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(sorted(_PLACES)))
def command(shell) -> int:
    """Print the completion script of SHELL: commands, options, stacks, targets, names of works.

    \b
    Examples:
      triplane completion bash >~/.local/share/bash-completion/completions/triplane
      triplane completion zsh >~/.zfunc/_triplane   # with ~/.zfunc in $fpath
      triplane completion fish >~/.config/fish/completions/triplane.fish
    """
    from click.shell_completion import get_completion_class

    from compiler.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "triplane", "_TRIPLANE_COMPLETE").source())
    return 0
