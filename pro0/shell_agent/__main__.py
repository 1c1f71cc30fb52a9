"""`python -m pro0.shell_agent`: run as the member named by the environment, as set by its guard."""

import os
import sys
from pathlib import Path

from pro0.errors import Pro0Error
from pro0.model.caller import Who
from pro0.ops import trust
from pro0.ops.context import TASK_ID, Context, caller_of, nobody
from pro0.shell_agent.agent import ShellAgent
from pro0.store.paths import home
from pro0.store.teams import Store


def main() -> int:
    """Work as the member named by the environment, until it may leave."""
    root = home(os.environ)
    caller, team = caller_of(os.environ, root)
    if caller.who is Who.HUMAN or team is None:
        print("pro0: the shell agent runs as a member of a team, started by its lead", file=sys.stderr)  # noqa: T201
        return 2
    context = Context(Store(root).team(team), caller, vouch=nobody)
    settings = trust.settings(root, Path(context.team.config.read().project), os.environ)
    own_task = os.environ.get(TASK_ID) or None
    return ShellAgent(context, settings.poll_interval_ms / 1000, settings.end_grace_seconds, own_task).work()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except Pro0Error as error:
        print(f"pro0: {error.message}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
