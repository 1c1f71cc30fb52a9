"""The link: a member's session here, its agent on another machine, and one `ssh` between them.

At home the session is like every other: a guard, a terminal, a report. Its program is the link (`near.py`). The link
keeps an `ssh` running whose other end is `pro0 hosted serve` (`far.py`). That program starts a second guard on the
other machine, which outlives every connection. It carries messages both ways: what the terminal there shows, what is
typed, what the second guard reports, and the commands of pro0 that run below it. Such a command is done at home, below
the session's own guard, so it has the member's rights by the same proof as every other process of the session
(`asks.py`, `doing.py`).

The file `sessions/{incarnation}.host.json` exists from before the first connection until the other machine has said
that the whole tree there has ended, or the person has given the session up. While it exists, nothing of the session is
given to others. A program that ends the session asks that machine again and again.
"""
