"""Print the figures of the named groups, or of all: `python -m bench [GROUP ...]`."""

import compileall
import sys
from pathlib import Path

import pro0
from bench import (
    bringup,
    growth,
    lead,
    libraries,
    mcp,
    page,
    panes,
    places,
    rpc,
    run,
    startup,
    store,
    view,
    web,
    worktrees,
)
from bench.figure import table

GROUPS = {
    "startup": startup.figures,
    "store": store.figures,
    "panes": panes.figures,
    "places": places.figures,
    "growth": growth.figures,
    "bringup": bringup.figures,
    "lead": lead.figures,
    "mcp": mcp.figures,
    "rpc": rpc.figures,
    "run": run.figures,
    "worktrees": worktrees.figures,
    "view": view.figures,
    "web": web.figures,
    "page": page.figures,
    "libraries": libraries.figures,
}


def main(names: list[str]) -> int:
    """Measure the named groups, or all. A missed goal is printed, but is no failure."""
    unknown = [name for name in names if name not in GROUPS]
    if unknown:
        print(f"bench: no group {unknown[0]!r}; one of {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    compileall.compile_dir(Path(pro0.__file__).parent, quiet=2)  # an installation has it, whatever the environment says
    missed: list[str] = []
    for name in names or GROUPS:
        print(f"measuring {name} …", file=sys.stderr)
        found = [*GROUPS[name]()]
        print(f"{table(found)}\n", flush=True)
        missed += [figure.what for figure in found if not figure.held]
    print(f"missed: {', '.join(missed)}" if missed else "every goal held")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
