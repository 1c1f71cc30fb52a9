"""What agents write is text on the page, whatever it looks like: nothing of it runs, loads or opens."""

from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pro0.model.caller import THE_HUMAN
from pro0.model.home import Role
from pro0.model.task import Awaiting, Draft
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, roles, tasks
from pro0.ops.team.members import SeatDraft
from tests.engine.crew import Crew
from tests.teams import member
from tests.web.page.pages import Shown

CODE = ("globalThis.caught=1", "alert(1)", "fetch('//x.invalid')")
TEMPLATES = (
    "<script>{}</script>",
    "<img src=x onerror=\"{}\">",
    "<svg/onload={}>",
    "<iframe srcdoc=\"<script>{}</script>\"></iframe>",
    "<a href=\"javascript:{}\">a link</a>",
    "javascript:{}//",
    "\"><details open ontoggle={}>",
    "'-{}-'",
    "${{{}}}",
    "`);{}//",
    "</textarea><style onload={}></style>",
    "<math><mtext></table><mglyph><style><!--</style><img src onerror={}>",
    "<base href=//x.invalid><link rel=import href=x onload={}>",
    "<form action=javascript:{}><button>go</button></form>",
    "<object data=\"data:text/html,<script>{}</script>\"></object>",
    "{{{{constructor.constructor('{}')()}}}}",
    "<input autofocus onfocus={}>",
    "<video><source onerror=\"{}\"></video>",
    "\u202e<script>{}</script>",
    "<meta http-equiv=refresh content=\"0;url=javascript:{}\">",
)  # fmt: skip
PAYLOADS = [template.format(code) for template, code in islice(product(TEMPLATES, CODE), 60)]
ESCAPES = (
    "\033]52;c;Y2F1Z2h0\007", "\033]0;<script>globalThis.caught=1</script>\007", "\033]8;;javascript:alert(1)\033\\x",
    "\033P1$r\033\\", "\033]1337;File=inline=1:AAAA\007", "\033[6n", "\033]11;?\007",
)  # fmt: skip
MARKUP = "main :is(script, img, iframe, object, embed, style, math, video, base, meta, link, a[href^='javascript'])"
SCREENS = ("needs", "board", "tree", "member", "messages/ada", "timeline", "roles", "member/evil@terminal", "cost")


@pytest.fixture(scope="module")
def task(alpha: Crew, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A team in which every field and a terminal hold each payload."""
    drafts = [Draft(title=text, description=text, acceptance=text, labels=("x",)) for text in PAYLOADS]
    ids = alpha.give(*drafts)
    ada = member(alpha.team, "ada", alpha.state("ada").incarnation)
    for id, text in zip(ids, PAYLOADS, strict=True):
        gates.hold(alpha.context, id, Awaiting.INPUT, text)
        tasks.comment(alpha.context, ids[0], text)
        messages.send(ada, "human", text)
    roles.add(alpha.store, THE_HUMAN, Role(id="evil", name=PAYLOADS[0][:60], prompt=PAYLOADS[1]))
    output: Path = tmp_path_factory.mktemp("output") / "text"
    output.write_text("\n".join((*PAYLOADS[:20], *ESCAPES, "this is the end\n")), encoding="utf-8")
    alpha.spawn(SeatDraft(name="evil", agent="command", argv=("sh", "-c", f"cat {output}; exec sleep 86400")))
    return ids[0]


def screens(task: str) -> Iterator[tuple[str, str]]:
    for screen in (*SCREENS, f"board/{task}", f"tree/{task}"):
        name, _, item = screen.partition("/")
        yield name, item


def test_nothing_that_agents_write_is_more_than_text(shown: Shown, task: str) -> None:
    for screen, item in screens(task):
        page = shown.go(screen, item)
        expect(page.get_by_text("One moment")).to_have_count(0)
        if screen == "member" and item:
            expect(page.locator(".xterm-rows")).to_contain_text("this is the end")
        assert page.locator(MARKUP).count() == 0, screen
        assert page.evaluate("globalThis.caught") is None, screen
        assert not shown.troubles, screen
    expect(shown.panel.get_by_label("Comment of human").last).to_have_text(PAYLOADS[-1])


def test_what_is_shown_is_what_was_written(shown: Shown, task: str) -> None:
    page = shown.go("tree", task)
    expect(page.get_by_role("heading", name=PAYLOADS[0], exact=True)).to_be_visible()
    shown.press("Edit", shown.panel)
    expect(page.get_by_role("dialog").get_by_label("Description")).to_have_value(PAYLOADS[0])
    shown.press("Cancel", page.get_by_role("dialog"))
