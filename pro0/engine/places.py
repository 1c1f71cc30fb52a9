"""The place of a team: its backend, the reason for it, and its windows and sockets (behaviour 3.13)."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from pro0 import sessions
from pro0.errors import EnvironmentMissing, Refused
from pro0.model.runtime import Handle, SeatState
from pro0.model.team import Display, TeamConfig
from pro0.rules.text import printed
from pro0.sessions.backend import Backend, Place
from pro0.sessions.iterm2 import it2
from pro0.store.teams import TeamStore
from pro0.terminals.library import library, missing

INSIDE = "this terminal is inside tmux"
"""Why a team is shown in the person's tmux."""


def choose_mode(requested: str, environment: Mapping[str, str], *, terminal: bool) -> tuple[str, str]:
    """Return the backend and the reason for it; raises EnvironmentMissing when the named mode cannot work."""
    if requested == "in-process":
        library()
    tmux = shutil.which("tmux") is not None
    if requested == "tmux" and not tmux:
        raise EnvironmentMissing("tmux is not installed", hint="install tmux, or use --mode headless")
    if requested == "iterm2":
        it2.verify(environment)
    if requested != "auto":
        return requested, "asked for"
    if tmux and environment.get("TMUX"):
        return "tmux", INSIDE
    if not terminal:
        return "headless", "there is no terminal"
    lacks = missing()
    if not lacks:
        return "in-process", "this is a terminal outside tmux"
    if tmux:
        return "tmux", f"this is a terminal, and {lacks}: a separate tmux server"
    return "headless", f"tmux is not installed, and {lacks}"


def display_here(requested: str, *, terminal: bool) -> Display:
    """Return where this machine shows the members of a team; `terminal` as for `choose_mode`."""
    mode, reason = choose_mode(requested, os.environ, terminal=terminal)
    return Display(
        mode=mode,
        mode_reason=reason,
        inside_tmux=os.environ.get("TMUX", "") if mode == "tmux" else "",
        iterm2_session=it2.own_session(os.environ) if mode == "iterm2" else "",
        sockets=os.environ.get("TMUX_TMPDIR", ""),
    )


def display_resumed(config: TeamConfig) -> Display:
    """Return the display of a team resumed here: its old one when its mode cannot work here."""
    before = config.display
    try:
        here = display_here(config.mode, terminal=False)
    except EnvironmentMissing:
        return before
    if (here.inside_tmux, here.iterm2_session) == (before.inside_tmux, before.iterm2_session):
        return before
    if bool(here.inside_tmux) == bool(before.inside_tmux):
        return replace(here, mode_reason=before.mode_reason)
    return replace(
        here, mode_reason=INSIDE if here.inside_tmux else "it was resumed outside tmux: a separate tmux server"
    )


def backend_of(config: TeamConfig) -> Backend:
    """Return the team's backend."""
    return sessions.backend_named(config.mode)


def place_of(team: TeamStore, config: TeamConfig) -> Place:
    """Return the place of a team's sessions."""
    return Place(
        team=config.name,
        uid=config.uid,
        project=Path(config.project),
        inside_tmux=config.inside_tmux,
        iterm2_session=config.iterm2_session,
        sockets=config.sockets,
        layout=config.layout,
        layouts={window.name: window.layout for window in config.windows},
        terminals=str(team.paths.sessions),
        panes_per_window=config.panes_per_window,
    )


def last_shown(team: TeamStore, state: SeatState, lines: int) -> str | None:
    """Return a session's last lines, None when it is shown nowhere; without its pane, those recorded at its end."""
    if (handle := shown_at(team, state)) is None:
        return None
    try:
        return backend_of(team.config.read()).peek(handle, lines)
    except Refused:
        if not (state.exit and state.exit.output):
            raise
        return "\n".join(printed(state.exit.output).splitlines()[-lines:])


def shown_at(team: TeamStore, state: SeatState) -> Handle | None:
    """Return the place of a session, None for nowhere. Its log is the member's, whatever runtime.json names."""
    return replace(state.handle, log=str(team.paths.log(state.agent_id))) if state.handle else None
