"""`pro0 completion`: the script that lets a shell complete pro0's words."""

import click

from pro0.cli.output import write

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      eval "$(pro0 completion bash)"
      pro0 completion zsh > ~/.zfunc/_pro0
      pro0 completion fish > ~/.config/fish/completions/pro0.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "pro0", "_PRO0_COMPLETE")
    # The class of bash first starts bash to look at its version; the script itself is what is asked for.
    write(ShellComplete.source(script).strip("\n"))
