"""The options that a stand-in takes: those of the real agent's own `--help`, recorded in options.json beside this file.

`record` makes that file anew from folders of recorded helps: `python obeying.py AGENT=HELP.txt…`.
"""

import json
import re
import sys
from pathlib import Path

RECORDED = Path(__file__).with_name("options.json")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")


def unknown(agent: str, words: list[str]) -> list[str]:
    """Return the words that look like an option and are none of this agent's."""
    known = set(json.loads(RECORDED.read_text())[agent])
    options = words[: words.index("--")] if "--" in words else words
    return [
        word for word in options if OPTION.fullmatch(word.partition("=")[0]) and word.partition("=")[0] not in known
    ]


def refuse_unknown(agent: str, words: list[str]) -> None:
    """End as the real program does when it is given an option that it does not have."""
    if strange := unknown(agent, words):
        sys.exit(f"error: unknown option '{strange[0]}'")


def options(text: str) -> list[str]:
    """Return the options that a help lists, in order of their names."""
    heads = [re.split(r"\s{2,}", line.strip())[0] for line in text.splitlines() if line.lstrip().startswith("-")]
    return sorted({option for head in heads for option in OPTION.findall(head)})


def main() -> None:
    """Record the options of agents from their helps; of one agent there may be several."""
    found: dict[str, set[str]] = {}
    for agent, _, help_file in (argument.partition("=") for argument in sys.argv[1:]):
        found.setdefault(agent, set()).update(options(Path(help_file).read_text()))
    RECORDED.write_text(json.dumps({agent: sorted(names) for agent, names in found.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
