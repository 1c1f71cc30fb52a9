"""A dialog is about the team that it was opened in, and goes with it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from tests.teams import human, make_team
from tests.web.page.on_disk import OnDisk, on_disk
from tests.web.page.pages import SHOW, Shown


@pytest.fixture(scope="module")
def alpha(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnDisk]:
    """Two teams, alpha and beta, whose first tasks have one id."""
    with on_disk(tmp_path_factory.mktemp("dialogs"), "ada") as team:
        tasks.create(team.context, [Draft(title="of alpha", description="its words")])
        yield team


@pytest.fixture(scope="module")
def beta(alpha: OnDisk) -> Context:
    """The person of another team in the same home."""
    context = human(make_team(alpha.store.home, "ada", name="beta"))
    tasks.create(context, [Draft(title="of beta", description="other words")])
    return context


def come_from(shown: Shown, address: str, screen: str, item: str = "") -> Page:
    """Show a screen of alpha such that the browser's Back leads elsewhere."""
    shown.page.evaluate(SHOW, address)
    return shown.go(screen, item)


@pytest.mark.parametrize(
    ("screen", "item", "button"),
    [
        ("tree", "", "New task"),
        ("tree", "task-1", "Edit"),
        ("tree", "task-1", "New subtask"),
        ("tree", "task-1", "Delete"),
        ("member", "", "New member"),
        ("roles", "", "New role"),
        ("messages", "", "Write to all"),
        ("board", "", "Control+k"),
    ],
)
@pytest.mark.parametrize("address", ["#/", "#/beta/board/"])
@pytest.mark.usefixtures("beta")
def test_who_leaves_the_team_leaves_its_dialog(shown: Shown, address: str, screen: str, item: str, button: str) -> None:
    page = come_from(shown, address, screen, item)
    if "+" in button:
        page.keyboard.press(button)
    else:
        shown.press(button)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.go_back()
    expect(dialog).not_to_be_visible()
    expect(
        page.get_by_role("heading", level=1, name="Teams" if address == "#/" else "Board", exact=True)
    ).to_be_visible()


def test_a_dialog_of_the_list_of_teams_is_left_with_it(shown: Shown) -> None:
    page = shown.go("board")
    page.evaluate(SHOW, "#/")
    shown.press("Start a team")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.go_back()
    expect(dialog).not_to_be_visible()
    expect(page.get_by_role("heading", level=1, name="Board", exact=True)).to_be_visible()


def test_a_dialog_stays_on_the_way_to_another_screen_of_its_team(shown: Shown) -> None:
    page = come_from(shown, "#/alpha/board/", "tree", "task-1")
    shown.press("Edit", shown.panel)
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("typed before")
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Board", exact=True)).to_be_attached()
    expect(form.get_by_label("Title")).to_have_value("typed before")
    page.keyboard.press("Escape")
    expect(form).not_to_be_visible()


def test_what_was_typed_for_one_team_never_comes_to_another(shown: Shown, beta: Context) -> None:
    page = come_from(shown, "#/beta/tree/", "tree", "task-1")
    shown.press("Edit", shown.panel)
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("meant for alpha")
    page.go_back()
    expect(form).not_to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".line", has_text="of beta")).to_be_visible()
    [of_beta] = tasks.list_tasks(beta)
    assert of_beta.title == "of beta"


def test_only_a_press_beside_a_dialog_closes_it(shown: Shown) -> None:
    """Its own margin belongs to it: a finger that misses a field must not throw away what was typed."""
    page = shown.go("messages")
    shown.press("Write to all")
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Your message")
    field.fill("much was typed")
    box = dialog.bounding_box()
    assert box
    left, right = box["x"] + 3, box["x"] + box["width"] - 3
    top, bottom = box["y"] + 3, box["y"] + box["height"] - 3
    for x, y in ((left, (top + bottom) / 2), (right, (top + bottom) / 2), ((left + right) / 2, top), (left, bottom)):
        page.mouse.click(x, y)
    expect(field).to_have_value("much was typed")
    page.mouse.click((left + right) / 2, box["y"] / 2)
    expect(dialog).not_to_be_visible()
