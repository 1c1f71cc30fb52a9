"""Short things are short: labels, roles, names and reasons beyond their limit are refused, and nothing is written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.errors import BadInput
from pro0.model.task import Changes, Draft
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import members, teams
from pro0.ops.team.members import SeatDraft
from pro0.rules.text import LABELS, LINE_LIMIT, REASON_LIMIT, TITLE_LIMIT
from pro0.store.teams import TeamStore
from tests.teams import human, make_team, member

Act = Callable[[Context, str], object]


@pytest.fixture
def team(home: Path) -> TeamStore:
    made = make_team(home, "w1")
    tasks.create(human(made), [Draft(title="one")])
    members.shutdown(human(made), "w1")
    return made


def spawn(context: Context, **fields: object) -> object:
    return members.spawn(context, [SeatDraft(**{"name": "w2", **fields})], 10)  # type: ignore[arg-type]


FIELDS: dict[str, tuple[int, Act]] = {
    "title": (TITLE_LIMIT, lambda c, text: tasks.create(c, [Draft(title=text)])),
    "new title": (TITLE_LIMIT, lambda c, text: tasks.update(c, "1", Changes(title=text))),
    "label": (LINE_LIMIT, lambda c, text: tasks.create(c, [Draft(title="t", labels=(text,))])),
    "new label": (LINE_LIMIT, lambda c, text: tasks.update(c, "1", Changes(labels=("ok", text)))),
    "role of a member": (LINE_LIMIT, lambda c, text: spawn(c, role=text)),
    "model": (LINE_LIMIT, lambda c, text: spawn(c, model=text)),
    "reason of a shutdown": (REASON_LIMIT, lambda c, text: members.shutdown(c, "w1", reason=text)),
    "reason of a stop": (REASON_LIMIT, lambda c, text: teams.stop(c, reason=text)),
    "reason of a no": (
        REASON_LIMIT,
        lambda c, text: members.answer(member(c.team, "w1"), approve=False, reason=text),
    ),
}


@pytest.mark.parametrize(("limit", "act"), FIELDS.values(), ids=FIELDS.keys())
def test_the_limit_is_exact(limit: int, act: Act, team: TeamStore) -> None:
    """Reliability 28: refused at the boundary, to whoever asks; nothing is written."""
    before = {path: path.read_bytes() for path in team.paths.home.rglob("*.json")}
    with pytest.raises(BadInput, match=f"bytes, more than {limit}"):
        act(human(team), "x" * (limit - 1) + "ä")
    assert {path: path.read_bytes() for path in team.paths.home.rglob("*.json")} == before
    act(human(team), "x" * limit)


@pytest.mark.parametrize("name", [n for n in FIELDS if "reason" not in n])
def test_short_things_are_one_line(name: str, team: TeamStore) -> None:
    for text in ("a\nb", "a\rb"):
        with pytest.raises(BadInput, match="more than one line"):
            FIELDS[name][1](human(team), text)


def test_a_name_that_is_displayed(team: TeamStore) -> None:
    wide = "w" + " " * (LINE_LIMIT - 2)
    with pytest.raises(BadInput, match=f"the name has {LINE_LIMIT + 1} bytes"):
        spawn(human(team), name=f"{wide} 2")
    spawn(human(team), name=f"{wide}2")
    assert team.wanted.read().seats[-1].agent_id == "w-2"


def test_labels_are_few_and_each_counts_once(team: TeamStore) -> None:
    many = tuple(f"l{number}" for number in range(LABELS + 1))
    with pytest.raises(BadInput, match=f"{LABELS + 1} labels are more than {LABELS}"):
        tasks.create(human(team), [Draft(title="t", labels=many)])
    with pytest.raises(BadInput, match="a label is empty"):
        tasks.create(human(team), [Draft(title="t", labels=("a", " "))])
    made = tasks.create(human(team), [Draft(title="t", labels=(*many[1:], " l1 "))])[0]
    assert made.labels == many[1:]
