"""Each field of a task on the page: its form takes and keeps it, and its panel shows it."""

from collections.abc import Iterator

import msgspec
import pytest
from playwright.sync_api import Locator, expect

from pro0.model.caller import THE_HUMAN
from pro0.model.home import Role
from pro0.model.task import Changes, Draft, Task
from pro0.ops.tasks import roles, tasks
from tests.task_fields import BESIDES, FORMLESS, IN_JSON_RPC, NOT_MADE_BY, SAMPLES, as_json, value_of
from tests.web.page.on_disk import OnDisk, on_disk
from tests.web.page.pages import Shown

IN_WORDS = {"awaiting": "waits for: {}", "timeout": "{:g} s"}
"""How the panel says a value that means little alone: a wait with its word, seconds with their unit."""
PRESENT = "(inputs) => Object.fromEntries(inputs.map(({ name, value }) => [name, value]))"
IS_A_CHOICE = "({ localName }) => localName === 'select'"


@pytest.fixture(scope="module")
def alpha(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnDisk]:
    """A team with the member and the tasks that the values name."""
    with on_disk(tmp_path_factory.mktemp("form"), str(SAMPLES["assignee"])) as team:
        tasks.create(team.context, [Draft(title="bare"), Draft(title="above"), Draft(title="before")])
        yield team


def full() -> Draft:
    """Return a task with a value in each field."""
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(Draft)}
    return msgspec.convert(
        {key: value_of(name) for key, name in fields.items() if BESIDES.get(name, name) in SAMPLES}, Draft
    )


def given(kind: type[msgspec.Struct], method: str) -> set[str]:
    """The fields of a task that its form gives to a method: each is the name of an input."""
    lacking = FORMLESS[method] | set(NOT_MADE_BY["method"])
    names = (field.name for field in msgspec.structs.fields(kind))
    return {BESIDES.get(name, name) for name in names if IN_JSON_RPC.get(name, name) not in lacking}


def written(field: str) -> str:
    """Return the value of a field as a person writes it."""
    value = value_of(field)
    return ", ".join(value) if isinstance(value, list) else str(value)


def inputs(form: Locator) -> dict[str, str]:
    """Return the inputs of a form by name, with what each holds once the form has its roles."""
    expect(form.locator(f"option[value={SAMPLES['role']}]")).to_be_attached()
    held: dict[str, str] = form.locator("[name]").evaluate_all(PRESENT)
    return held


def test_the_form_and_the_panel_show_each_field_and_an_edit_of_the_title_loses_none(
    shown: Shown, alpha: OnDisk
) -> None:
    [made] = tasks.create(alpha.context, [full()])
    before = tasks.show(alpha.context, made.id)
    page = shown.go("tree", before.id)
    expect(shown.panel.get_by_role("heading", name=before.title, exact=True)).to_be_visible()
    told = shown.panel.locator(":not(select, option)").all_text_contents()
    words = {
        field: IN_WORDS[field].format(value_of(field)) if field in IN_WORDS else written(field) for field in SAMPLES
    }
    assert len(set(words.values())) == len(words), "two fields of tests/task_fields.py have one value"
    assert not {field: text for field, text in words.items() if text not in told}, (
        "parts/task.js shows no such value, or shows it in words: then IN_WORDS has them"
    )

    shown.press("Edit", shown.panel)
    form = page.get_by_role("dialog")
    held = inputs(form)
    wrong = {field: held.get(field) for field in given(Changes, "task.update") if held.get(field) != written(field)}
    assert not wrong, "the form of parts/taskform.js has another value than its task"
    form.get_by_label("Title").fill("another title")
    shown.press("Save", form)
    shown.says(f"{before.id} is changed")
    after = tasks.show(alpha.context, before.id)
    changed = {field for field in Task.__struct_fields__ if getattr(after, field) != getattr(before, field)}
    assert changed == {"title", "updated_at", "history"}, "a field that nobody touched was saved with another value"
    tasks.delete(alpha.context, before.id)


@pytest.mark.parametrize(
    ("button", "kind", "method"), [("Create", Draft, "task.create"), ("Save", Changes, "task.update")]
)
def test_what_is_typed_in_each_field_of_the_form_is_in_the_task(
    shown: Shown, alpha: OnDisk, button: str, kind: type[msgspec.Struct], method: str
) -> None:
    there = {task.id for task in tasks.list_tasks(alpha.context)}
    if button == "Save":
        [bare] = tasks.create(alpha.context, [Draft(title="bare")])
        page = shown.go("tree", bare.id)
        shown.press("Edit", shown.panel)
    else:
        page = shown.go("tree")
        shown.press("New task")
    form = page.get_by_role("dialog")
    fields = given(kind, method)
    lacking = fields - inputs(form).keys()
    assert not lacking, "the form of parts/taskform.js has no input for it"
    for field in sorted(fields):
        one = form.locator(f"[name={field}]")
        (one.select_option if one.evaluate(IS_A_CHOICE) else one.fill)(written(field))
    shown.press(button, form)
    expect(form).not_to_be_visible()
    [task] = (task for task in tasks.list_tasks(alpha.context) if task.id not in there)
    wrong = {field: getattr(task, field) for field in fields if as_json(getattr(task, field)) != value_of(field)}
    assert not wrong, "the form took a value that the task has not"
    tasks.delete(alpha.context, task.id)


def edit_form(shown: Shown, id: str) -> Locator:
    """Open the form of a task that is there, and return it once it has the roles."""
    page = shown.go("tree", id)
    shown.press("Edit", shown.panel)
    form = page.get_by_role("dialog")
    inputs(form)
    return form


def test_a_task_is_given_back_to_nobody_in_particular(shown: Shown, alpha: OnDisk) -> None:
    [made] = tasks.create(alpha.context, [Draft(title="for a role", role=str(SAMPLES["role"]), priority=4)])
    form = edit_form(shown, made.id)
    form.get_by_label("Role").select_option("")
    shown.press("Save", form)
    shown.says(f"{made.id} is changed")
    assert tasks.show(alpha.context, made.id).role is None
    tasks.delete(alpha.context, made.id)


def test_a_role_that_is_gone_stays_named_by_an_edit_of_something_else(shown: Shown, alpha: OnDisk) -> None:
    """A task that is over holds no role, and may be open again when its role is gone."""
    roles.add(alpha.store, THE_HUMAN, Role(id="ghost", name="Ghost", prompt="You come and go."))
    [made] = tasks.create(alpha.context, [Draft(title="for a role that is gone", role="ghost")])
    tasks.cancel(alpha.context, made.id)
    roles.remove(alpha.store, THE_HUMAN, "ghost")
    tasks.reopen(alpha.context, made.id)
    form = edit_form(shown, made.id)
    form.get_by_label("Title").fill("another title")
    shown.press("Save", form)
    shown.says(f"{made.id} is changed")
    after = tasks.show(alpha.context, made.id)
    assert (after.title, after.role) == ("another title", "ghost")
    tasks.delete(alpha.context, made.id)


def test_a_task_that_is_there_always_has_a_priority(shown: Shown, alpha: OnDisk) -> None:
    """An empty one would be no change: the form says so, and does not say that the task is changed."""
    [made] = tasks.create(alpha.context, [Draft(title="comes some time", priority=4)])
    form = edit_form(shown, made.id)
    form.get_by_label("Priority").fill("")
    shown.press("Save", form)
    assert form.get_by_label("Priority").evaluate("(field) => field.validity.valueMissing")
    form.get_by_label("Priority").fill("0")
    shown.press("Save", form)
    shown.says(f"{made.id} is changed")
    assert tasks.show(alpha.context, made.id).priority == 0
    tasks.delete(alpha.context, made.id)


def test_a_task_that_comes_before_is_the_same_in_each_of_its_spellings(shown: Shown, alpha: OnDisk) -> None:
    [first, second] = tasks.create(alpha.context, [Draft(title="first"), Draft(title="second")])
    [made] = tasks.create(alpha.context, [Draft(title="after the first", blocked_by=(first.id,))])
    number = first.id.removeprefix("task-")
    for typed in (number, f"{number}, {first.id}", f"{number} {second.id}"):
        form = edit_form(shown, made.id)
        form.get_by_label("After").fill(typed)
        form.get_by_label("Title").fill(f"after {typed}")
        shown.press("Save", form)
        expect(shown.panel.get_by_role("heading", name=f"after {typed}", exact=True)).to_be_visible()
        wanted = (first.id, second.id) if second.id in typed else (first.id,)
        assert tasks.show(alpha.context, made.id).dependencies == wanted
    for task in (made, second, first):
        tasks.delete(alpha.context, task.id)


@pytest.mark.parametrize("line", ["zoe", "zoe=", "zoe=claude a big role", "=claude"])
def test_a_line_that_is_no_member_of_a_new_team_is_said_in_plain_words(shown: Shown, alpha: OnDisk, line: str) -> None:
    page = shown.go("start")
    main = page.get_by_role("main")
    main.get_by_label("Name", exact=True).fill("gamma")
    main.get_by_label("Project").fill(str(alpha.store.home))
    main.get_by_label("Members").fill(f"ada=shell\n{line}")
    shown.press("Start")
    expect(main.get_by_role("alert")).to_have_text(
        f'"{line}" does not describe a member: write one per line, such as ada=claude reviewer'
    )
    assert alpha.store.names() == ["alpha"]
