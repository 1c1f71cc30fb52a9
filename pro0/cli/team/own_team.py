"""A team for a project without one: some commands make it, and need no `team start` before them."""

import os
import re
from pathlib import Path

from pro0.cli.context import by_terminal, caller, here, project_here, store
from pro0.cli.output import say
from pro0.config import Settings, require_enabled
from pro0.errors import ErrorCode, NotFound
from pro0.ops import trust
from pro0.ops.context import Context
from pro0.ops.tasks.acting import settings_to_hire

_HEADLESS = {"teammateMode": "headless"}


def team_or_none(team: str | None) -> Context | None:
    """Return the chosen team, None for a project without one; raises NotFound for an unknown name."""
    try:
        return here(team)
    except NotFound as error:
        if error.code != ErrorCode.NO_TEAM:
            raise
    return None


def settings_here(context: Context | None) -> Settings:
    """Return the settings of the team's project, or of the project that is about to get a team."""
    if context:
        return settings_to_hire(context)
    settings = trust.settings(store().home, project_here(), os.environ, _HEADLESS)
    require_enabled(settings)
    return settings


def own_team(settings: Settings) -> Context:
    """Make a team for the project, named after its folder."""
    from pro0.engine.opening.founding import found

    asking, _ = caller()
    context = found(store(), asking, _name(project_here()), project_here(), settings, vouch=by_terminal, terminal=False)
    say(f"team {context.team.name} in {project_here()}, made for this")
    return context


def _name(folder: Path) -> str:
    """Return a name for the team of a folder that no other team has."""
    base = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:40] or "project"
    taken = set(store().names())
    return next(name for number in range(1, 1000) if (name := base if number == 1 else f"{base}-{number}") not in taken)
