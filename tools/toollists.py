"""Write pro0/mcp/listed: the tools of each kind of caller, from the table of tools."""

from pathlib import Path

from pro0.mcp import listing
from pro0.mcp.tools.schema import documents


def main() -> None:
    """Write every list."""
    texts = documents()
    folder = Path(listing.FOLDER)
    folder.mkdir(exist_ok=True)
    for kind, text in texts.items():
        Path(listing.file(kind)).write_text(text, encoding="utf-8")
    print(f"{len(texts)} lists in pro0/mcp/listed")


if __name__ == "__main__":
    main()
