"""Creating a team: choose its backend, and the environment for its members."""

import os
from pathlib import Path

from pro0.config import Settings
from pro0.engine.opening.environment import kept_environment
from pro0.engine.places import choose_mode
from pro0.model.caller import Caller
from pro0.model.layout import Layout
from pro0.model.team import PermissionMode, Window
from pro0.ops.context import Context, Vouch
from pro0.ops.team import teams
from pro0.sessions.iterm2 import it2
from pro0.store.teams import Store
from pro0.worktrees import Repository


def found(
    store: Store,
    caller: Caller,
    name: str,
    project: Path,
    settings: Settings,
    *,
    vouch: Vouch,
    terminal: bool,
    permission: PermissionMode | None = None,
    layout: Layout | None = None,
    worktrees: bool = False,
) -> Context:
    """Create a team for this project, without members; `terminal` is True when a person looks at one."""
    if worktrees:
        Repository(project).head()
    mode, reason = choose_mode(settings.teammate_mode, os.environ, terminal=terminal)
    environment = kept_environment(os.environ, settings.pass_environment, settings.agents.values())
    home = teams.Home(
        name=name,
        project=project,
        mode=mode,
        mode_reason=reason,
        inside_tmux=os.environ.get("TMUX", "") if mode == "tmux" else "",
        iterm2_session=it2.own_session(os.environ) if mode == "iterm2" else "",
        sockets=os.environ.get("TMUX_TMPDIR", ""),
        permission_mode=permission or PermissionMode(settings.permission_mode),
        plan_approval=settings.plan_approval,
        windows=tuple(Window(name=window.window_name, layout=window.layout) for window in (layout or Layout()).windows),
        layout=settings.window_layout,
        panes_per_window=settings.panes_per_window,
        worktrees=worktrees,
        store=settings.store,
        environment=environment.variables,
        reserved=environment.reserved,
    )
    return teams.create(store, caller, home, vouch)
