"""`python -m pro0.runner OPTIONS`: run as the member named in the environment, which its guard has set."""

import os
import sys
from pathlib import Path

from pro0.decoding import decode
from pro0.errors import Pro0Error
from pro0.model.caller import Who
from pro0.model.run import RunOptions
from pro0.ops import trust
from pro0.ops.context import Context, caller_of, nobody
from pro0.runner.loop import Runner
from pro0.store.paths import home
from pro0.store.teams import Store


def main(words: list[str]) -> int:
    """Run tasks as the member named by the environment; return the exit code when the run is over."""
    root = home(os.environ)
    caller, team = caller_of(os.environ, root)
    if caller.who is Who.HUMAN or team is None or len(words) != 1:
        print("pro0: the runner runs as a member of a team, started by pro0 run", file=sys.stderr)  # noqa: T201
        return 2
    options = decode(words[0], RunOptions)
    context = Context(Store(root).team(team), caller, vouch=nobody)
    settings = trust.settings(root, Path(context.team.config.read().project), os.environ)
    return Runner(context, options, settings).work()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Pro0Error as error:
        print(f"pro0: {error.message}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
