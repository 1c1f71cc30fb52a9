"""Serve the page of a home until Ctrl+C, or say where it is served."""

import sys

from pro0.cli.context import store
from pro0.cli.output import say, write
from pro0.cli.web.opening import open_in_browser
from pro0.cli.web.pairing import link, picture
from pro0.errors import Refused
from pro0.model.home import Rights
from pro0.web.extra import require_libraries
from pro0.web.options import LOOPBACK, ServeOptions
from pro0.web.running import served_at


def serve_page(options: ServeOptions | None = None, *, open_it: bool) -> None:
    """Serve the page; raises EnvironmentMissing without its libraries, Refused when it is served already."""
    require_libraries()
    from pro0.web.serve import serve

    serve(store().home, options or ServeOptions(), lambda url: show(url, open_it=open_it), say)
    write("the page is closed; your teams go on")


def serve_or_show() -> None:
    """Serve the page, or show the address at which another process serves it."""
    if url := served_at(store().home):
        show(url, open_it=True)
    else:
        serve_page(open_it=True)


def show(url: str, *, open_it: bool) -> None:
    """Print the address of the page, on a terminal with a QR code, and open it if asked to."""
    try:
        shown = link(url, Rights.ALL)
    except Refused as error:
        say(f"pro0: only paired devices get in: {error.message}")
        shown = url
    write(f"the page of your teams: {shown}")
    if shown != url and f"//{LOOPBACK}" not in url and (code := picture(shown)):
        write(code)
    sys.stdout.flush()  # a reader of a pipe needs the address now
    if open_it:
        open_in_browser(shown)
