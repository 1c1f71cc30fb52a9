"""What mkdocs calls while it builds the site: pages of the top folder join it, and links to sources become words.

Nothing is kept that no reader is shown, so the site stays small.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
JOINING = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
KEPT = re.compile(r"(<(pre|textarea)\b.*?</\2>)", re.DOTALL)
"""Where white space is shown."""
INDENTED = re.compile(r"\n\s+")
UNUSED = ("*.map", "lunr/**/*.js")
"""What the theme brings for other languages and for those who work on it."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages of the top folder."""
    for name in JOINING:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_others: object) -> str:
    """Let links lead to pages of the site; one to anything else is its words."""
    name = page.file.src_uri
    folder = "" if name in JOINING else posixpath.join("docs", posixpath.dirname(name))
    return LINK.sub(lambda link: _led(link, folder, posixpath.dirname(name), files), markdown)


def on_post_page(output: str, **_others: object) -> str:
    """Return a page without the indentation of its source, which is a quarter of it."""
    parts = KEPT.split(output)  # text, kept, name of its tag, text, …
    return "".join(part if at % 3 else INDENTED.sub("\n", part) for at, part in enumerate(parts) if at % 3 != 2)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Take away what no page of the site loads."""
    for pattern in UNUSED:
        for path in Path(config.site_dir).rglob(pattern):
            path.unlink()


def _led(link: re.Match[str], folder: str, start: str, files: Files) -> str:
    words, target = link.groups()
    path, mark, anchor = target.partition("#")
    if not path or "://" in path or path.startswith("mailto:"):
        return link[0]
    here = posixpath.normpath(posixpath.join(folder, path))
    page = "docs/index.md" if here == "README.md" else here
    page = page.removeprefix("docs/")
    if not files.get_file_from_path(page):
        return words
    return f"[{words}]({posixpath.relpath(page, start or '.')}{mark}{anchor})"
