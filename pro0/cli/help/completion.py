"""`pro0 completion`: the script that lets a shell complete pro0's words."""

import click

from pro0.cli.output import write
from pro0.terminals.completion import SHELLS, script


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      eval "$(pro0 completion bash)"
      pro0 completion zsh > ~/.zfunc/_pro0
      pro0 completion fish > ~/.config/fish/completions/pro0.fish
    """
    write(script(shell))
