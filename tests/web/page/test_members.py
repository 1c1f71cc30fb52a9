"""What people do with members on the page: chat, the terminal and its keyboard, changes with comments, another team."""

from playwright.sync_api import expect

from pro0.ops.mail import messages
from tests.engine.crew import Crew
from tests.teams import member
from tests.waiting import STUCK, wait_until
from tests.web.page.pages import Shown


def test_the_chat_of_a_session_is_watched_and_written_to(shown: Shown, alpha: Crew) -> None:
    """S000-001, 035, 044, 047."""
    page = shown.go("member", "ada@chat")
    chat = page.get_by_role("log", name="Chat")
    ada = member(alpha.team, "ada", alpha.state("ada").incarnation)
    messages.send(ada, "human", "I begin with the lexer")
    expect(chat).to_contain_text("I begin with the lexer")
    page.get_by_label("To this session").fill("begin with its tests")
    shown.press("Send")
    expect(chat).to_contain_text("begin with its tests")
    wait_until(lambda: any("its tests" in letter.message.content for letter in messages.inbox(ada)), STUCK, "it came")
