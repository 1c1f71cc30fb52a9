"""What a test does by keys alone is done by keys: what no key reaches is not done."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.web.page import keys

FORM = """<form onsubmit="document.title = 'sent: ' + new FormData(this).get('text') + who.value; return false">
  <input name="text" aria-label="Text" value="before"><select id="who" aria-label="Who"><option value="">whoever
  takes it</option><option value="a">ada</option></select><input type="checkbox" aria-label="Sure">
  <button>Send</button><button type="button" tabindex="-1" onclick="document.title = 'reached'">Out of reach</button>
</form>"""


@pytest.fixture
def form(chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A form, and a person who has a keyboard."""
    page = chromium.new_page()
    page.set_content(FORM)
    keys.use_keys(monkeypatch)
    monkeypatch.setattr(keys, "TABS", 20)
    yield page
    page.close()


def test_a_form_is_filled_and_sent_by_keys(form: Page) -> None:
    """Issue 16, must show 6."""
    form.get_by_label("Who").select_option("a")
    form.get_by_label("Text").fill("after")
    form.get_by_label("Sure").check()
    form.get_by_role("button", name="Send").click()
    assert form.title() == "sent: aftera"


def test_what_no_key_reaches_is_not_done(form: Page) -> None:
    """Issue 16, must show 6."""
    with pytest.raises(AssertionError, match="Tab never comes"):
        form.get_by_role("button", name="Out of reach").click()
    with pytest.raises(AssertionError, match="not done by keys"):
        form.get_by_role("button", name="Out of reach").hover()
    assert form.title() == ""
