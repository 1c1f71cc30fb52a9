"""`pro0 web pair`, `devices` and `revoke`."""

import click

from pro0.cli.context import human_only, store
from pro0.cli.output import json_option, local, say, table, write, write_json
from pro0.cli.web.pairing import link, picture
from pro0.model.home import Rights
from pro0.ops import devices
from pro0.web.running import served_at


@click.command()
@click.option(
    "--rights",
    type=click.Choice([str(right) for right in Rights]),
    default="all",
    help="What it may do; by default all.",
)
def pair(rights: str) -> None:
    """Print a URL that pairs one more browser, once, within ten minutes; on a terminal as a QR code too.

    With the rights `look` a device can only read; with `answer` it can also give verdicts, answer and write messages;
    with `all` it can do whatever you can. Only a person gets a URL: a member, or a program without a terminal, is
    refused.

    \b
    Examples:
      pro0 web pair
      pro0 web pair --rights look
    """
    home = store().home
    url = served_at(home)
    shown = link(url or "/", Rights(rights))
    if not url:
        say("pro0: the page is not served now: pro0 web")
    write(shown)
    if code := picture(shown):
        write(code)


@click.command("devices")
@json_option
def list_devices(as_json: bool) -> None:
    """List the browsers that are paired, with what each may do.

    --json prints a list of {id, name, rights, paired_at}.

    \b
    Examples:
      pro0 web devices
    """
    human_only("see the paired devices")
    listed = devices.known(store().home).devices
    if as_json:
        write_json([{"id": d.id, "name": d.name, "rights": d.rights, "paired_at": d.paired_at} for d in listed])
    elif not listed:
        write("no device is paired: pro0 web pair")
    else:
        head = ("ID", "NAME", "RIGHTS", "PAIRED")
        table(head, [(device.id, device.name, device.rights, local(device.paired_at)) for device in listed])


@click.command()
@click.argument("device")
def revoke(device: str) -> None:
    """Forget a paired browser, by its id or its name; its page is closed at once.

    \b
    Examples:
      pro0 web revoke 4f1c22ab
    """
    human_only("revoke a device")
    gone = devices.revoke(store().home, device)
    write(f"{gone.name} ({gone.id}) is no longer paired")
