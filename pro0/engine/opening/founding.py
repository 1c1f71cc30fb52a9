"""Creating a team: choose its backend, and the environment for its members."""

import os
from pathlib import Path

from pro0.config import Settings
from pro0.engine.opening.environment import kept_environment
from pro0.engine.places import display_here
from pro0.model.caller import Caller
from pro0.model.layout import Layout
from pro0.model.team import PermissionMode, Window
from pro0.ops.context import Context, Vouch
from pro0.ops.team import teams
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
    environment = kept_environment(os.environ, settings.pass_environment, settings.agents.values())
    home = teams.Home(
        name=name,
        project=project,
        display=display_here(settings.teammate_mode, terminal=terminal),
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
