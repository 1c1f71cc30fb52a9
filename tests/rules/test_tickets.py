"""Tickets in Markdown with front matter: what is read of them, and what is wrong with others (anchors 3.3)."""

from datetime import UTC, datetime

import pytest

from pro0.errors import BadInput
from pro0.model.task import Kind
from pro0.rules.tickets import tickets
from pro0.rules.tickets.importing import Note, Ticket

NO_FIELD = "its front matter has a line that is no field: "
WHOLE = """---
id: pr-ab12
status: in_progress
deps: [pr-cd34, "pr-ef56"]
links: []
created: 2026-01-01T10:00:00Z
type: feature
priority: 1
assignee: Jo Doe
# a remark
parent: pr-0000
tags: [ui, 'backend']

---
# Build the page

It shows all.

## Design

A table.

## Acceptance Criteria

- it is fast

## Notes

**2026-01-02T11:00:00Z**

Found a way.

**2026-01-03T11:00:00Z**

Took it.
"""


def ticket(text: str) -> Ticket:
    return tickets.read(text.encode(), "pr-ab12.md")


def test_a_whole_ticket() -> None:
    """anchors 3.3"""
    assert ticket(WHOLE) == Ticket(
        origin="ticket:pr-ab12",
        file="pr-ab12.md",
        title="Build the page",
        status="in_progress",
        description="It shows all.\n\n## Design\n\nA table.",
        acceptance="- it is fast",
        priority=1,
        labels=("ui", "backend"),
        parent="ticket:pr-0000",
        blocked_by=("ticket:pr-cd34", "ticket:pr-ef56"),
        created_at=datetime(2026, 1, 1, 10, tzinfo=UTC),
        notes=(
            Note("Found a way.", datetime(2026, 1, 2, 11, tzinfo=UTC)),
            Note("Took it.", datetime(2026, 1, 3, 11, tzinfo=UTC)),
        ),
    )
    assert ticket(WHOLE.replace("\n", "\r\n")) == ticket(WHOLE)


def test_a_bare_ticket() -> None:
    bare = ticket(
        "---\nid: a\nstatus: open\ntype: epic\ncreated: soon\n---\n# T\n## Notes\nsaid\n**2026-01-02T11:00:00Z**\n"
    )
    assert (bare.type, bare.priority, bare.created_at, bare.description) == (Kind.EPIC, 2, None, "")
    assert bare.notes == (Note("said"),)
    barest = ticket("---\nid: a\nstatus: closed\ntags: ['']\n---\n# T")
    assert barest == Ticket(origin="ticket:a", file="pr-ab12.md", title="T", status="closed")
    assert ticket("---\nid: a\nstatus: open\n---\n# T") == Ticket(
        origin="ticket:a", file="pr-ab12.md", title="T", status="open"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it does not begin with front matter"),
        ("# T\n", "it does not begin with front matter"),
        ("---\nid: a\nstatus: open\n", "it does not begin with front matter"),
        ("---\nid: a\nstatus: open\n---\nno heading\n", "it has no title"),
        ("---\nstatus: open\n---\n# T\n", "it has no id"),
        ("---\nid: a\n---\n# T\n", "its status is '', not one of open, in_progress, closed"),
        ("---\nid: a\nstatus: done\n---\n# T\n", "its status is 'done', not one of open, in_progress, closed"),
        ("---\nid: a\nstatus: open\npriority: high\n---\n# T\n", "its priority is 'high', which is no number"),
        (f"---\nid: a\nstatus: open\n- {'x' * 50}\n---\n# T\n", f"{NO_FIELD}'- {'x' * 38}'"),
        ("---\nid: a\nstatus: open\nx #\n---\n# T\n", f"{NO_FIELD}'x #'"),
    ],
)
def test_a_file_that_is_no_ticket_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        ticket(text)
    assert refused.value.message == why


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("[]", ()),
        ("", ()),
        ("ui", ("ui",)),
        ("[ui, , 'a b', \"c\"]", ("ui", "a b", "c")),
        ("['a', \"b']", ("a", "\"b'")),
        ("[XaX]", ("XaX",)),
        ("[', \"]", ("'", '"')),
        ("[a, b", ("[a", "b")),
    ],
)
def test_a_list_in_the_front_matter(written: str, tags: tuple[str, ...]) -> None:
    """A word alone is a list of one; quotes go when they are a pair around something."""
    assert ticket(f"---\n  # a remark\n\nid: a\nstatus: open\ntags: {written}\n---\n# T").labels == tags


def test_sections_that_are_none_of_ours_are_part_of_the_description() -> None:
    """In their order, with their headings; what is empty is left out."""
    text = "---\nid: a\nstatus: open\n---\n# T\nfirst\n## Notes\n## One\nx\n## Acceptance Criteria\ny\n## Two\nz\n"
    read = ticket(text)
    assert (read.description, read.acceptance, read.notes) == ("first\n\n## One\n\nx\n\n## Two\n\nz", "y", ())


def test_text_before_the_title_and_of_sections_with_one_name_is_kept() -> None:
    """In their order, as ticket programs append a section a second time."""
    parts = ("first\n# T\nsecond", "## D\na", "## Acceptance Criteria\nx", "## Notes\nn", "## D\nb")
    again = ("## Acceptance Criteria", "## Acceptance Criteria\ny", "## Notes\n**2026-01-02T11:00:00Z**\nm")
    read = ticket("---\nid: a\nstatus: open\n---\n" + "\n".join((*parts, *again)))
    assert read.description == "first\n\nsecond\n\n## D\n\na\n\n## D\n\nb"
    assert read.acceptance == "x\n\ny"
    assert read.notes == (Note("n"), Note("m", datetime(2026, 1, 2, 11, tzinfo=UTC)))


def test_sections_before_the_title_are_sections() -> None:
    read = ticket("---\nid: a\nstatus: open\n---\n## Notes\nn\n## One\nx\n# T\nsaid")
    assert (read.title, read.description, read.notes) == ("T", "## One\n\nx\n\nsaid", (Note("n"),))


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BadInput, match="UTF-8"):
        tickets.read(b"---\n\xff", "x.md")
