"""The shell agent reads its mail, and answers shutdown requests (rulings 3.9)."""

from msgspec.structs import replace

from pro0.model.message import MessageType
from pro0.model.runtime import State
from pro0.model.task import Status
from pro0.ops.mail import messages
from pro0.ops.team import members
from tests.shell_agent.conftest import PATIENCE, Desk
from tests.waiting import wait_until


def test_mail_is_shown_and_acknowledged(desk: Desk) -> None:
    desk.post("one")
    desk.start()
    desk.shows("── human → w1: one")
    messages.send(desk.human, "W1", "two\x1b[2Jlines\nhere")
    desk.shows("── human → w1: two\\x1b[2Jlines\nhere")
    wait_until(lambda: all(message.read for message in desk.mail()), PATIENCE, "all is acknowledged")
    assert desk.shown().count("one") == 1


def test_mail_is_read_while_working(desk: Desk) -> None:
    id = desk.give("while ! test -e go; do sleep 0.05; done")
    desk.start()
    desk.says(State.WORKING, id)
    desk.post("hello")
    desk.shows("── human → w1: hello")
    (desk.folder / "go").touch()
    assert desk.settled(id).status is Status.COMPLETED


def test_a_free_agent_agrees_and_leaves(desk: Desk) -> None:
    """AC-74"""
    desk.start()
    desk.says(State.IDLE)
    desk.ask_to_end()
    answer = desk.answer()
    assert (answer.approve, answer.request_id, answer.incarnation) == (True, "ask-1", desk.session.incarnation)
    assert desk.ends() == 0
    assert desk.shown().rstrip().endswith("── shutting down, as agreed")


def test_a_busy_agent_says_not_yet_and_why(desk: Desk) -> None:
    """must show 6"""
    id = desk.give("while ! test -e go; do sleep 0.05; done; echo finished")
    desk.start()
    desk.says(State.WORKING, id)
    desk.ask_to_end()
    answer = desk.answer()
    assert (answer.approve, answer.reason) == (False, f"working on {id}")
    desk.shows(f"── not yet: working on {id}")
    (desk.folder / "go").touch()
    assert desk.settled(id).result == "finished"
    desk.says(State.IDLE)
    desk.post("please, again", MessageType.SHUTDOWN_REQUEST)
    assert desk.ends() == 0
    assert desk.answer().approve


def test_who_agreed_takes_nothing_more(desk: Desk) -> None:
    desk.ask_to_end()
    id = desk.give("true")
    desk.start()
    assert desk.ends() == 0
    assert desk.task(id).status is Status.PENDING


def test_a_request_that_does_not_stand_is_no_reason_to_leave(desk: Desk) -> None:
    """Withdrawn, or of an earlier session (anchors 55)"""
    desk.post("please", MessageType.SHUTDOWN_REQUEST)
    desk.start()
    desk.shows("── nobody asked this session to shut down")
    assert desk.settled(desk.give("echo on")).result == "on"


def test_mail_that_was_shown_to_an_earlier_session_is_shown_again(desk: Desk) -> None:
    """AC-70"""
    desk.post("important")
    desk.team.mailbox("w1").hand_out("inc-earlier", acknowledge=False)
    with desk.team.wanted.change("a test") as change:
        change.value = members.with_seat(change.value, replace(change.value.seats[0], generation=2))
    desk.record(replace(desk.session, generation=2))
    desk.start()
    desk.shows("── human → w1: important")
