"""The person's mail on the page, that of the mailbox `lead` too while there is no lead agent (3.8)."""

import pytest
from playwright.sync_api import expect

from pro0.model.message import Notice
from pro0.ops.context import lead_context
from pro0.ops.mail import messages
from tests.engine.crew import Crew
from tests.teams import member
from tests.web.page.pages import Shown


def test_mail_to_lead_is_in_the_thread_with_its_sender_where_it_is_answered(shown: Shown, alpha: Crew) -> None:
    """Nobody but the person reads it: it is theirs, like what is sent to them by name."""
    page = shown.go("messages", "ada")
    thread = page.get_by_role("region", name="ada", exact=True)
    messages.send(member(alpha.team, "ada", alpha.state("ada").incarnation), "lead", "which parser?")
    expect(thread.get_by_label("Message of ada").last).to_have_text("which parser?")
    expect(thread.locator("li", has_text="which parser?").last).to_contain_text("to lead")
    thread.get_by_label("To ada").fill("the new one")
    shown.press("Send", thread)
    expect(thread.get_by_label("Message of human").last).to_have_text("the new one")
    expect(page.get_by_role("link", name="ada and lead")).to_have_count(0)


@pytest.mark.parametrize("sender", ["ada", "human"])
def test_a_need_of_unread_mail_leads_to_it(sender: str, shown: Shown, alpha: Crew) -> None:
    messages.inbox(alpha.context, acknowledge=True)
    by = alpha.context if sender == "human" else member(alpha.team, "ada", alpha.state("ada").incarnation)
    page = shown.go("needs")
    messages.send(by, "lead", f"a word of {sender}")
    page.get_by_role("button", name=f"Read: 1 unread message from {'you' if sender == 'human' else sender}").click()
    expect(page.get_by_label(f"Message of {sender}").last).to_have_text(f"a word of {sender}")


def test_a_need_of_unread_notices_leads_to_them(shown: Shown, alpha: Crew) -> None:
    messages.inbox(alpha.context, acknowledge=True)
    page = shown.go("needs")
    notice = Notice(id="a-notice", from_="lead", to="lead", content="something ended")
    messages.deliver(lead_context(alpha.team), (notice,))
    page.get_by_role("button", name="Read: 1 unread notice").click()
    page.get_by_role("listitem").filter(has_text="1 new message").get_by_role("link", name="lead", exact=True).click()
    expect(page.get_by_label("Message of lead").last).to_have_text("something ended")
    expect(page.get_by_label("To lead")).to_have_count(0)
