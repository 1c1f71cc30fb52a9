"""How claim, send, list and bring-up grow with a team: 10, 100 and 1,000 members, in each place.

At most a hundred members may live at once; over ssh, one of them measures. The others are simulated: they are members
that have ended, and the team's documents list them like living ones.
"""

from collections.abc import Iterator

from bench import places
from bench.figure import Figure
from tests import postgres, sshd

NUMBERS = {"10 members": (10, 0), "100 members": (99, 1), "1,000 members": (99, 901)}
"""How many live, and how many are simulated."""


def figures() -> Iterator[Figure]:
    """Measure each place with more and more members."""
    for words, (number, ended) in NUMBERS.items():
        yield from places.here(f"files, {words}", number, ended=ended)
    if postgres.is_here():
        with postgres.postgres(fsync="on") as server:
            for words, (number, ended) in NUMBERS.items():
                yield from places.here(f"database, {words}", number, ended=ended, url=server.url())
    if not sshd.lacks():
        for words, (number, ended) in NUMBERS.items():
            yield from places.there(f"over ssh, {words}", number, ended=ended)
