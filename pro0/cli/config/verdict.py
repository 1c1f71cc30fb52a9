"""`pro0 verdict`: how pro0 knows that a verdict comes from a person."""

import os

import click

from pro0.cli.context import caller
from pro0.cli.lazy import HintingGroup
from pro0.cli.output import write
from pro0.errors import ErrorCode, Refused
from pro0.model.caller import Who
from pro0.ops import verdicts
from pro0.store import paths


@click.group(cls=HintingGroup)
def verdict() -> None:
    """Protect your verdicts with a PIN.

    A verdict, such as an approval or a rejection, is given on a terminal. If you set a PIN, each verdict asks for it.

    \b
    Examples:
      pro0 verdict pin
    """


@verdict.command()
@click.option("--remove", is_flag=True, help="Remove the PIN, so that verdicts no longer ask for it.")
def pin(*, remove: bool) -> None:
    """Set or change the PIN that your verdicts ask for.

    Commands ask for the PIN on the terminal only. So no program can give a verdict by opening a terminal of its own.
    After five wrong PINs verdicts are refused for 15 minutes. With a PIN the setting `verdicts: scripts` has no effect.

    \b
    Examples:
      pro0 verdict pin
      pro0 verdict pin --remove
    """
    asking, _ = caller()
    if asking.who is not Who.HUMAN:
        raise Refused(f"{asking.agent_id} may not set the PIN: only a person may", code=ErrorCode.NOT_ALLOWED)
    home = paths.home(os.environ)
    if remove:
        write("verdicts no longer ask for a PIN" if verdicts.remove_pin(home) else "there is no PIN")
    else:
        write("the PIN is changed" if verdicts.set_pin(home) else "verdicts ask for this PIN from now on")
