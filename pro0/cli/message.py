"""`pro0 send`, `broadcast` and `inbox`."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import click

from pro0.cli import completing
from pro0.cli.context import here, quiet, team_option
from pro0.cli.interrupts import interruptible, is_interrupt
from pro0.cli.output import drop, json_option, line, local, say, text_or_stdin, write, write_json
from pro0.errors import BadInput, NotFound, Pro0Error, TimedOut
from pro0.model.caller import Who
from pro0.model.message import Message
from pro0.ops.context import Context
from pro0.ops.mail import delivery, messages
from pro0.ops.mail.delivery import Delivered, Fate
from pro0.ops.mail.messages import Letter
from pro0.rules.mail import given_up_to
from pro0.rules.text import visible

LOOK = 0.1
"""Seconds between two looks of `inbox --wait` at a mailbox's stamp; the mailbox is read only after a change."""


@click.command()
@click.argument("to", shell_complete=completing.receivers)
@click.argument("text", metavar="TEXT|-")
@click.option("--urgent", is_flag=True, help="Interrupt the turn of a working agent, if that is possible.")
@click.option(
    "--wait", type=float, metavar="S", help="Wait at most this many seconds until it is read; exit 124 if it is not."
)
@click.option("--reply-to", metavar="N|ID", help="Which message it answers: its number in your inbox, or its id.")
@team_option
@json_option
def send(
    to: str, text: str, urgent: bool, wait: float | None, reply_to: str | None, team: str | None, as_json: bool
) -> None:
    """Send a message to one member, by id or name, or to `lead` or `human`.

    If the recipient is unknown or was shut down, nothing is sent, exit 3. A message is kept until it is read; a crashed
    member reads it after its restart. With --wait you are told whether it was read, or why it still waits.
    --json prints the message as stored.

    \b
    Examples:
      pro0 send w1 "the tests are yours"
      pro0 send ada "please stop, and look at task-3" --wait 60
      pro0 send w1 "yes, both" --reply-to 4
      git diff | pro0 send "Test Runner" -
    """
    context = here(team)
    if to.strip().casefold() == "all":
        raise NotFound("all is nobody's name", hint="pro0 broadcast TEXT sends to every living member")
    message = messages.send(context, to, text_or_stdin(text), in_reply_to=reply_to, urgent=urgent)
    if as_json:
        write_json(message)
    else:
        write(f"sent to {message.to} (message {message.seq})")
    if wait is not None:
        sys.stdout.flush()  # a program that reads this output learns at once that it is sent
        _wait_until_read(context, message, wait)
    elif (fate := delivery.fate(context, message)).is_said:
        say(f"{fate.result}: {fate.why}")


def _wait_until_read(context: Context, message: Message, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _waits(fate := delivery.fate(context, message)) and time.monotonic() < deadline:
        time.sleep(LOOK)
    if fate.result is not Delivered.DELIVERED:
        raise TimedOut(f"{fate.result}: {fate.why}", hint="it is kept until it is read")
    say(f"delivered to {message.to}")


def _waits(fate: Fate) -> bool:
    return fate.result is Delivered.QUEUED and not fate.crashed


@click.command()
@click.argument("text", metavar="TEXT|-")
@team_option
@json_option
def broadcast(text: str, team: str | None, as_json: bool) -> None:
    """Send a message to every living member, except yourself.

    --json prints the list of messages as stored.

    \b
    Examples:
      pro0 broadcast "the build is green again"
      pro0 broadcast - < notes.txt
    """
    sent = messages.broadcast(here(team), text_or_stdin(text))
    if as_json:
        write_json(sent)
    else:
        write(f"sent to {', '.join(message.to for message in sent) or 'nobody: no other member lives'}")


@click.command()
@click.option(
    "--wait", type=float, metavar="S", help="Wait at most this many seconds for mail; exit 124 if none comes."
)
@click.option("--ack", is_flag=True, help="In a member's session: mark as read at once, not with the next call.")
@click.option("--all", "everything", is_flag=True, help="Every message you ever got, read or not; changes nothing.")
@click.option("--sent", "written", is_flag=True, help="Every message you ever sent, and whether it was read.")
@click.option("--with", "correspondent", metavar="NAME", help="What you and one member wrote to each other.")
@team_option
@json_option
def inbox(
    wait: float | None,
    ack: bool,
    everything: bool,
    written: bool,
    correspondent: str | None,
    team: str | None,
    as_json: bool,
) -> None:
    """Read your unread messages.

    A person's messages are marked as read once they are shown; those of a member's session by its next `inbox` call, or
    by --ack. A session gets very many messages in parts: a line on stderr says how many more are unread.
    --json prints a list of {mailbox, message {id, seq, from, to, type, content, timestamp, read, inReplyTo, urgent},
    again}.

    \b
    Examples:
      pro0 inbox
      pro0 inbox --wait 60
      pro0 inbox --all --json
      pro0 inbox --sent
      pro0 inbox --with w1
    """
    if wait is not None and not wait >= 0:
        raise BadInput(f"cannot wait {wait:g} seconds", hint="0 or more")
    chosen = [everything, written, correspondent is not None]
    if sum(chosen) + (wait is not None or ack) > 1:
        raise BadInput("--all, --sent, --with and waiting for new mail are different views", hint="choose one of them")
    context = here(team)
    quiet()
    if correspondent is not None:
        letters = messages.conversation(context, correspondent)
    elif written:
        letters = messages.sent(context)
    elif everything:
        letters = messages.history(context)
    else:
        _read_fresh(context, wait, ack=ack, as_json=as_json)
        return
    _show(context, letters, as_json=as_json)


def _read_fresh(context: Context, wait: float | None, *, ack: bool, as_json: bool) -> None:
    is_human = context.caller.who is Who.HUMAN
    if is_human:
        letters = _fresh(context, wait or 0.0)
        _show(context, letters, as_json=as_json)
    else:
        letters = _hand_out(context, wait or 0.0, as_json=as_json)
    if letters and not is_human and (unread_count := messages.left(context)):
        say(f"{unread_count} more unread: pro0 inbox")
    if letters and (ack or is_human):
        messages.acknowledge(context, letters)
    if wait is not None and not letters:
        raise TimedOut(f"no message came in {wait:g} s")


def _hand_out(context: Context, seconds: float, *, as_json: bool) -> list[Letter]:
    """Show a session its unread mail; if it cannot be shown completely, it is taken back and given again later."""
    letters: list[Letter] = []
    with interruptible() as interruption:
        try:
            letters = _fresh(context, seconds, interruption.check)
            interruption.check()
            _show(context, letters, as_json=as_json)
        except BaseException as error:
            interruption.clearing_up, is_ended = True, is_interrupt(error)
            if letters or (is_ended and _has_mail_out(context)):
                _take_back(context)
            if is_ended:
                drop(sys.stdout)  # this mail is given again, and a slow reader may never read the rest
            raise
    return letters


def _has_mail_out(context: Context) -> bool:
    """Return True when this session was given mail that is not yet marked as read."""
    with suppress(Pro0Error):
        heads = [context.team.mailbox(name).head.read() for name in messages.addresses(context.team, context.caller)]
        return any(given_up_to(head, context.caller.incarnation) > head.acked for head in heads)
    return False


def _take_back(context: Context) -> None:
    """Take the mail back, to give it again; if that fails, only say where the mail is, and keep the first error."""
    try:
        messages.take_back(context)
    except Pro0Error as error:
        say(f"{error}; your next look counts this mail as read: pro0 inbox --all shows it")


def _show(context: Context, letters: list[Letter], *, as_json: bool) -> None:
    if as_json:
        write_json(letters)
    else:
        print_letters(letters, context.caller.agent_id)
    sys.stdout.flush()


def _fresh(context: Context, seconds: float, check: Callable[[], None] = lambda: None) -> list[Letter]:
    """Return the unread mail, waiting for it up to `seconds`; the mailbox is read again only after a change.

    `check` is called repeatedly while it waits.
    """
    deadline = time.monotonic() + seconds
    while True:
        stamps = _stamps(context)
        letters = messages.inbox(context)
        if letters or time.monotonic() >= deadline:
            return letters
        while stamps == _stamps(context) and time.monotonic() < deadline:
            check()
            time.sleep(min(LOOK, max(0.0, deadline - time.monotonic())))


def _stamps(context: Context) -> list[object]:
    boxes = [context.team.mailbox(address) for address in messages.addresses(context.team, context.caller)]
    return [box.stamp() for box in boxes if box.exists()]


def print_letters(letters: Sequence[Letter], reader: str) -> None:
    """Print messages with sender, recipient and time."""
    if not letters:
        say("no messages")
    numbers = {letter.message.id: letter.message.seq for letter in letters}
    for letter in letters:
        message = letter.message
        kind = "" if message.type == "message" else f" · {message.type.replace('_', ' ')}"
        note = " · again" if letter.again else ""
        to = f" → {line(message.to)}" if message.to != message.from_ else ""
        if message.from_ == reader:
            note += "" if message.read else " · unread"
        if answered := numbers.get(message.in_reply_to or ""):
            note += f" · answers #{answered}"
        write(f"{line(message.from_)}{to} · {local(message.timestamp)} · #{message.seq}{kind}{note}")
        write("  " + visible(message.content).replace("\n", "\n  "))
