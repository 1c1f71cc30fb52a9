"""The scripts that let shells complete pro0's words."""

import re

SHELLS = ("bash", "zsh", "fish")


def script(shell: str) -> str:
    """Return the completion script of a shell, without a line break at its end."""
    from click import Command
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    words = kind(Command("pro0"), {}, "pro0", "_PRO0_COMPLETE")
    # The class of bash first starts bash to look at its version; only the script itself is needed.
    text = ShellComplete.source(words).strip("\n")
    if shell == "fish":
        return text.replace('string split ","', 'string split --max 1 ","')  # a name or a title may have commas
    if shell == "bash":
        text = text.replace("COMPREPLY+=($value)", 'COMPREPLY+=("$(printf %q "$value")")')  # a file may have spaces
        return _SORTS.sub(r"complete -o nosort \1 2>/dev/null || complete \1", text)
    return text


_SORTS = re.compile(r"complete -o nosort ([^;\n]*)")
"""The line for bash 4.4 and later: an older bash, such as that of macOS, does not know `nosort`."""
