"""The list of removed teams with an archive."""

from pro0.cli.context import human_only, store
from pro0.cli.output import say, table, write, write_json
from pro0.ops.team import archives
from pro0.ops.team.status import completed


def print_archives(*, as_json: bool, output: str | None) -> None:
    """Print the removed teams with an archive, by name and time of their end."""
    human_only("read archives")
    kept_archives = store().archives()
    if output == "name":
        for name in dict.fromkeys(archive.name for archive in kept_archives):
            write(name)
    elif as_json:
        write_json([archives.listed(archive) for archive in kept_archives])
    elif kept_archives:
        table(
            ("TEAM", "ENDED", "TASKS", "UNREAD", "PROJECT"),
            [_row(archives.listed(archive)) for archive in kept_archives],
        )
    else:
        say("no archives: `pro0 team cleanup` keeps one of each team with tasks or messages")


def _row(archived: archives.ArchivedTeam) -> list[str]:
    cannot = "unreadable"
    done = completed(archived.tasks) if archived.tasks else cannot
    unread = cannot if archived.unread is None else str(archived.unread)
    return [archived.name, archives.utc(archived.ended), done, unread, archived.project or cannot]
