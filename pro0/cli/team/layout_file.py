"""Layouts by name or file: of the project, of the person, or shipped."""

from pathlib import Path

from msgspec.structs import replace

from pro0 import looking
from pro0.cli.member.seating import say_unread
from pro0.cli.named_file import data_of, value_of
from pro0.errors import BadInput, NotFound
from pro0.model.layout import Layout, LayoutMember
from pro0.ops import trust
from pro0.ops.tasks.drafts import SeatDraft
from pro0.rules.layouts import layout_of
from pro0.store.paths import LAYOUT_SUFFIXES


def layout_named(name: str, project: Path, home: Path) -> Layout:
    """Return a layout by its file or name; raises BadInput for a bad one, NotFound, with the names, for none."""
    if "/" in name or name == "-" or Path(name).suffix in LAYOUT_SUFFIXES:
        return _read(name, data_of(name))
    for place in trust.layout_places(project, home):
        for suffix in LAYOUT_SUFFIXES:
            if looking.is_file(path := place / f"{name}{suffix}"):
                data = data_of(str(path))
                trust.require_layout(home, project, path, data)
                return _read(str(path), data)
    raise NotFound(
        f"there is no layout {name!r}", hint=f"there are {', '.join(trust.layout_names(project, home))}, or name a file"
    )


def drafts_of(layout: Layout) -> list[SeatDraft]:
    """Return a layout's members as drafts of seats, each with its role's prompt before its own."""
    roles = {role.name: role.prompt for role in layout.roles}
    return [_draft(member, roles.get(member.role, "")) for member in layout.members]


def _draft(member: LayoutMember, role: str) -> SeatDraft:
    draft = SeatDraft(
        name=member.name,
        agent=member.agent or ("command" if member.argv else "shell"),
        role=member.role,
        prompt=member.prompt,
        argv=member.argv,
        nudge=member.nudge,
        window=member.window,
        model=member.model,
        effort=member.effort,
        permission_mode=member.permission_mode,
        plan=member.plan,
        host=member.host,
    )
    return replace(say_unread(draft), prompt="\n\n".join(filter(None, (role, member.prompt))))


def _read(file: str, data: bytes) -> Layout:
    value = value_of(data, file)
    try:
        return layout_of(value)
    except BadInput as error:
        raise BadInput(f"{file}: {error.message}", code=error.code, hint=error.hint) from None
