"""The URL of a database that keeps a team's documents."""

from pro0.errors import BadInput

SCHEMES = ("postgresql", "postgres")
SECRETS = ("password", "client_secret")
"""The endings of the names of libpq's secret parameters."""


def checked(url: str) -> str:
    """Return the URL; raises BadInput for an invalid URL, or for a password in it."""
    from urllib.parse import parse_qs, urlsplit  # start-up time

    try:
        parts = urlsplit(url)
        names = parse_qs(parts.query, keep_blank_values=True)
        secret = parts.password is not None or any(name.endswith(SECRETS) for name in names)
    except ValueError as error:
        raise BadInput(f"the URL of the store cannot be read: {error}") from None
    if secret:
        hint = "put it into ~/.pgpass, PGPASSWORD or a service file, where PostgreSQL's programs look too"
        raise BadInput("the URL of the store holds a password, which pro0 does not keep", hint=hint)
    if parts.scheme not in SCHEMES or any(not sign.isprintable() or sign == " " for sign in url):
        raise BadInput(f"{url!r} is no store", hint="use a URL such as postgresql://host/database")
    return url
