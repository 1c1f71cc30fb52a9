"""A layout, as a file describes it: the members, their windows, and the first tasks."""

from typing import Literal

from pro0.model.stored import Argument, Stored
from pro0.model.task import Draft
from pro0.model.team import PermissionMode, WindowLayout, WindowName


class LayoutMember(Stored, frozen=True):
    """One member of a layout; its name is the key in `members`."""

    name: str
    agent: str = ""
    role: str = ""
    prompt: str = ""
    argv: tuple[Argument, ...] = ()
    nudge: bool = False
    model: str = ""
    effort: str = ""
    permission_mode: PermissionMode | None = None
    window: WindowName | Literal[""] = ""
    plan: bool = False
    host: Argument = ""
    """The machine that is to run its program, by its name for ssh; empty for this machine."""


class LayoutWindow(Stored, frozen=True):
    """One window: its name, and how tmux is to lay its panes out."""

    window_name: WindowName
    layout: WindowLayout = "tiled"


class LayoutRole(Stored, frozen=True):
    """A role that a layout brings along."""

    name: str
    prompt: str


class Layout(Stored, frozen=True):
    """A whole layout, with every short form written out and everything inherited."""

    description: str = ""
    mode: str = ""
    lead: str = ""
    prompt: str = ""
    permission_mode: PermissionMode | None = None
    members: tuple[LayoutMember, ...] = ()
    windows: tuple[LayoutWindow, ...] = ()
    roles: tuple[LayoutRole, ...] = ()
    tasks: tuple[Draft, ...] = ()
