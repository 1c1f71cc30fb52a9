"""`pro0 web`: serve the page of a home."""

from pathlib import Path

import click

from pro0.cli.context import human_only, store
from pro0.cli.lazy import HintingGroup
from pro0.cli.web.devices import list_devices, pair, revoke
from pro0.cli.web.serving import serve_page
from pro0.errors import BadInput
from pro0.web.options import ServeOptions


@click.group(cls=HintingGroup, invoke_without_command=True)
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Listen on this port; by default on the last one, else on a free one."
)
@click.option("--host", metavar="NAME", help="Serve other machines under this name; needs the TLS files.")
@click.option("--certificate", type=click.Path(path_type=Path), metavar="FILE", help="The TLS certificate of NAME.")
@click.option("--key", type=click.Path(path_type=Path), metavar="FILE", help="The key of the certificate.")
@click.option("--proxy", metavar="NAME", help="A proxy on this machine shows the page under https://NAME.")
@click.option("--no-open", is_flag=True, help="Open no browser.")
@click.pass_context
def web(
    context: click.Context,
    port: int | None,
    host: str | None,
    certificate: Path | None,
    key: Path | None,
    proxy: str | None,
    no_open: bool,
) -> None:
    """Serve a page of your teams to a browser.

    One process serves all teams of this home until Ctrl+C; your teams go on without it. It listens on this machine
    only. The printed URL pairs one browser, once, within ten minutes; a paired browser needs no URL again. A phone
    connects through `ssh -L`, `tailscale serve` with --proxy, or --host with a certificate.

    \b
    Examples:
      pro0 web
      pro0 web --port 8042 --no-open
      pro0 web --proxy laptop.example.ts.net
    """
    if context.invoked_subcommand:
        return
    store().check()
    human_only("serve the page")
    if (host is None) != (certificate is None) or (certificate is None) != (key is None):
        raise BadInput(
            "--host, --certificate and --key belong together", hint="for a proxy in front of it: --proxy NAME"
        )
    serve_page(ServeOptions(port or 0, host or "", certificate, key, proxy or ""), open_it=not no_open)


web.add_command(list_devices)
web.add_command(pair)
web.add_command(revoke)
