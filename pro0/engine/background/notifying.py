"""Notify: one POST to the person's URL, or one run of the person's command, for each need."""

from collections.abc import Callable
from urllib.parse import unquote, urlsplit

import msgspec

from pro0.config import Settings
from pro0.model.need import Need
from pro0.ops.tasks.hook_runs import Runs
from pro0.store.teams import TeamStore

TIMEOUT = 10.0
"""Seconds for a POST."""
HEADER_LIMIT = 200
"""Characters of the need's id in a header."""
CONTENT_LIMIT = 2000
"""The most characters that Discord takes."""
AUDIBLE = 5
"""The priority for Gotify: its app shows nothing for 0, which is the usual one."""
NEED = "PRO0_NEED"
"""The variable with the need in one sentence, for the command."""


def notify(team: TeamStore, settings: Settings, name: str, need: Need, over: Callable[[], str] = str) -> str:
    """Send a need to a URL or a command; return why that failed, or "". A reason from `over` ends the command."""
    target = settings.notify
    if is_url(target):
        return _post(target, name, need)
    payload = msgspec.json.encode({"team_name": name, "need": need})
    return Runs(team, settings.hook_timeout_seconds).notify(target, payload, {NEED: f"{name}: {need.sentence}"}, over)


def is_url(target: str) -> bool:
    """Return True for an address that takes a POST."""
    return target.startswith(("http://", "https://"))


def shown(target: str) -> str:
    """Return a target without its secrets: for a URL, only the scheme, host and port."""
    if not is_url(target):
        return target
    try:
        parts = urlsplit(target)
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
    except ValueError:  # a port or brackets that no URL has
        return f"{target.partition('://')[0]}://"


def body(target: str, name: str, need: Need) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a POST: plain text for an ntfy topic, else JSON for chat services.

    A URL whose path has one part, other than `message`, is an ntfy topic. Slack reads `text`, Gotify `title` and
    `message`, Discord `content`. An agent's words call nobody there, such as by `<!channel>` or `@everyone`.
    """
    title, text = f"pro0 {name}", need.sentence
    ours = {"X-Pro0-Need": _header(need.id)}
    topic = urlsplit(target).path.strip("/")
    is_gotify = topic.rpartition("/")[2] == "message"
    if topic and "/" not in topic and not is_gotify:
        return text.encode(), {**ours, "Content-Type": "text/plain; charset=utf-8", "Title": title}
    whole = f"{title}: {text}"
    payload = {
        "text": whole.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        "title": title,
        "message": text,
        "content": whole[:CONTENT_LIMIT],
        "allowed_mentions": {"parse": []},
        "need": need,
    } | ({"priority": AUDIBLE} if is_gotify else {})  # Mattermost refuses a priority that is a number
    return msgspec.json.encode(payload), {**ours, "Content-Type": "application/json"}


def addressed(target: str) -> tuple[str, dict[str, str]]:
    """Return a URL without the name and the password in it, and the header that sends them instead."""
    from base64 import b64encode

    parts = urlsplit(target)
    person, has_person, place = parts.netloc.rpartition("@")
    if not has_person:
        return target, {}
    name, _, password = person.partition(":")
    proof = b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    return parts._replace(netloc=place).geturl(), {"Authorization": f"Basic {proof}"}


def _header(text: str) -> str:
    """Return a text that is safe in a header. The id of a hook's need holds the command, perhaps of several lines."""
    return "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in text)[:HEADER_LIMIT]


def _post(target: str, name: str, need: Need) -> str:
    import http.client  # start-up time: urllib takes as long as all of a lead's own modules
    import urllib.error
    import urllib.request

    class Unmoved(urllib.request.HTTPRedirectHandler):
        """Follows no redirection: a POST would become a GET somewhere else."""

        def redirect_request(self, *_: object, **__: object) -> None:
            return None

    data, headers = body(target, name, need)
    place, proof = addressed(target)
    request = urllib.request.Request(place, data, {"User-Agent": "pro0", **headers, **proof}, method="POST")
    try:
        with urllib.request.build_opener(Unmoved).open(request, timeout=TIMEOUT):
            return ""
    except urllib.error.HTTPError as error:
        error.close()
        return f"the answer was {error.code} {error.reason}"
    except urllib.error.URLError as error:
        return str(error.reason)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
