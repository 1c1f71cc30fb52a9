"""The page's libraries from npm: `python -m tools.vendor` writes them anew, each with its version, licence and hash.

The page has no build step and a strict policy (no inline style, nothing from elsewhere). So imports become relative
paths, and xterm.js adopts its style sheets, which the policy allows.
"""

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

VENDOR = Path(__file__).parents[1] / "pro0/web/page/vendor"
IMPORTS = {
    "preact": "./preact.js",
    "preact/hooks": "./hooks.js",
    "@preact/signals-core": "./signals-core.js",
    "htm": "./htm.js",
}
STYLE = (re.compile(r'[\w.]+\.createElement\("style"\)'), "adoptedStyle()")
ATTRIBUTE = (
    re.compile(r'_addStyle\((\w),(\w)\)\{\1\.setAttribute\("style",.*?\)\}'),
    r'_addStyle(\1,\2){\1.style.cssText+=";"+\2}',
)
ADOPTED = """
function adoptedStyle() {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const node = document.createElement("span");
  node.hidden = true;
  Object.defineProperty(node, "textContent", { set: (text) => sheet.replaceSync(text) });
  node.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    Element.prototype.remove.call(node);
  };
  return node;
}
"""


class Library(NamedTuple):
    """One file: its package, its path in the package, and its name here."""

    package: str
    version: str
    member: str
    file: str
    changes: tuple[tuple[re.Pattern[str], str], ...] = ()
    end: str = ""


LIBRARIES = (
    Library("preact", "11.2.0", "dist/preact.mjs", "preact.js"),
    Library("preact", "11.2.0", "hooks/dist/hooks.mjs", "hooks.js"),
    Library("@preact/signals-core", "1.14.5", "dist/signals-core.mjs", "signals-core.js"),
    Library("@preact/signals", "2.11.4", "dist/signals.mjs", "signals.js"),
    Library("htm", "3.1.1", "dist/htm.mjs", "htm.js"),
    Library("@xterm/xterm", "6.0.0", "lib/xterm.mjs", "xterm.js", (STYLE, ATTRIBUTE), ADOPTED),
    Library("@xterm/xterm", "6.0.0", "css/xterm.css", "xterm.css"),
)


def main() -> int:
    """Write every file, the table and the licences."""
    VENDOR.mkdir(parents=True, exist_ok=True)
    rows, licences = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            package, integrity = fetched(library, Path(folder))
            text = changed(member(package, library.member), library)
            (VENDOR / library.file).write_text(text, encoding="utf-8")
            about = json.loads(member(package, "package.json"))
            licences[library.package] = member(package, "LICENSE").strip()
            rows.append(row(library, about["license"], integrity, text))
    (VENDOR / "vendor.toml").write_text(_ABOUT + "".join(rows), encoding="utf-8")
    told = (f"{package}\n{'=' * len(package)}\n\n{text}\n" for package, text in licences.items())
    (VENDOR / "LICENSES.txt").write_text("\n\n".join(told), encoding="utf-8")
    return 0


def fetched(library: Library, folder: Path) -> tuple[tarfile.TarFile, str]:
    """Return a package as an open archive, and npm's integrity hash of it."""
    command = ["npm", "pack", "--json", "--pack-destination", str(folder), f"{library.package}@{library.version}"]
    [about] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    content = (folder / Path(about["filename"].replace("@", "").replace("/", "-"))).read_bytes()
    return tarfile.open(fileobj=io.BytesIO(content)), about["integrity"]


def member(package: tarfile.TarFile, name: str) -> str:
    """Return the text of one file of a package."""
    found = package.extractfile(f"package/{name}")
    assert found is not None, name
    return found.read().decode()


def changed(text: str, library: Library) -> str:
    """Return a file with the changes for the page; raises ValueError when a pattern no longer matches."""
    text = re.sub(r"\n?//# sourceMappingURL=\S+\s*$", "", text)
    text = re.sub(r'(from|import)\s*"([^"./][^"]*)"', lambda found: f'{found[1]}"{IMPORTS[found[2]]}"', text)
    for pattern, replacement in library.changes:
        text, count = pattern.subn(replacement, text)
        if not count:
            raise ValueError(f"{library.file}: {pattern.pattern} is not there any more")
    return text.rstrip() + "\n" + library.end


def row(library: Library, licence: str, integrity: str, text: str) -> str:
    """Return the entry of one file in the table."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    entries = {
        "package": library.package,
        "version": library.version,
        "licence": licence,
        "member": library.member,
        "integrity": integrity,
        "sha256": digest,
    }
    lines = "".join(f'{name} = "{value}"\n' for name, value in entries.items())
    return f'\n["{library.file}"]\n{lines}'


_ABOUT = """\
# The code of others that the page is made of, written by `python -m tools.vendor` from npm's packages.
# `integrity` is npm's own word about the package; `sha256` is of the file here, after the changes in tools/vendor.py.
"""

if __name__ == "__main__":
    sys.exit(main())
