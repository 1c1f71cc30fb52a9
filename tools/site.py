"""The hooks of mkdocs: they add the pages of the top folder to the site, and turn links to sources into words.

Whatever no reader sees is removed, so the site stays small.
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
"""The elements in which white space is shown."""
INDENTED = re.compile(r"\n\s+")
UNUSED = ("*.map", "lunr/**/*.js")
"""The theme's files for other languages and for its developers."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages of the top folder to the site."""
    for name in JOINING:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_others: object) -> str:
    """Point links at pages of the site; replace a link to any other file by its words."""
    name = page.file.src_uri
    folder = "" if name in JOINING else posixpath.join("docs", posixpath.dirname(name))
    return LINK.sub(lambda link: _led(link, folder, posixpath.dirname(name), files), markdown)


def on_post_page(output: str, **_others: object) -> str:
    """Return a page without indentation, which is a quarter of its size."""
    parts = KEPT.split(output)  # text, kept, name of its tag, text, …
    return "".join(part if at % 3 else INDENTED.sub("\n", part) for at, part in enumerate(parts) if at % 3 != 2)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Remove the files that no page of the site loads."""
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
