"""`python -I -m pro0.agents.acp FOLDER`: our client for the agent that the settings of that folder name."""

import sys
from pathlib import Path

from pro0.agents.acp import program
from pro0.errors import Pro0Error

if __name__ == "__main__":
    try:
        sys.exit(program.run(Path(sys.argv[1])))
    except Pro0Error as error:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        print(f"pro0: {error.message}{hint}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
