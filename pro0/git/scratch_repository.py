"""The folder of a scratch repository, with the objects of a real one and its plain settings alone."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

PLAIN = (
    r"^(core\.(autocrlf|eol|safecrlf|checkroundtripencoding|filemode|symlinks|ignorecase|precomposeunicode"
    r"|protecthfs|protectntfs|longpaths|excludesfile|attributesfile|sparsecheckout|sparsecheckoutcone"
    r"|bigfilethreshold|quotepath|sharedrepository)|lfs\.storage"
    r"|extensions\.(objectformat|partialclone)|remote\..*\.promisor|merge\.(renames|renamelimit|directoryrenames|conflictstyle))$"
)
"""Repository settings about the form and place of files, and if objects are missing, without any program."""
_NO = ("false", "no", "off", "0", "")
OWN_EXCLUDE = "pro0-exclude"
"""A list of ignored files in a worktree's own `info`, for our calls alone."""
_NOTES = 1024 * 1024
"""Byte limit for copied lists, such as ignore rules."""


def make(target: Path, git_dir: Path, common: Path, head: str, plain: Mapping[str, str]) -> None:
    """Make a scratch repository without any setting able to name a program."""
    (target / "refs").mkdir()
    (target / "info").mkdir()
    (target / "HEAD").write_text(f"{head}\n" if head else "ref: refs/heads/none\n")
    (target / "config").write_text(_form(plain))
    for name in ("shallow", "info/exclude", "info/attributes"):  # without the first, git would look for cut-off commits
        _take(common / name, target / name)
    _take(git_dir / "info" / "sparse-checkout", target / "info" / "sparse-checkout")
    _take(git_dir / "info" / OWN_EXCLUDE, target / "info" / "exclude")
    for shared in git_dir.glob("sharedindex.*"):
        (target / shared.name).symlink_to(shared)


def settings(plain: Mapping[str, str], common: Path) -> dict[str, str]:
    """Return the plain settings for calls there: without remotes, and with the place of the real repository's LFS."""
    kept = {name: value for name, value in plain.items() if not name.startswith("remote.")}
    return {**kept, "lfs.storage": str(common / plain.get("lfs.storage", "lfs"))}


def borrowed(target: Path, common: Path) -> Path:
    """Return a scratch folder for new objects, from which git can also read those of the repository."""
    objects = target / "objects"
    (objects / "info").mkdir(parents=True, exist_ok=True)
    (objects / "info" / "alternates").write_bytes(os.fsencode(common / "objects") + b"\n")
    return objects


def _form(plain: Mapping[str, str]) -> str:
    """Return settings that only a repository's own config can hold: its object format, and if objects are missing."""
    lines = ["[core]", "repositoryformatversion = 1", "[extensions]"]
    if plain.get("extensions.objectformat", "").lower() == "sha256":
        lines.append("objectformat = sha256")
    promised = any(name.endswith(".promisor") and value.lower() not in _NO for name, value in plain.items())
    if promised or "extensions.partialclone" in plain:  # an old git names the remote in the extension alone
        lines += ["partialclone = elsewhere", '[remote "elsewhere"]', "promisor = true"]
    return "\n".join([*lines, ""])


def _take(source: Path, target: Path) -> None:
    """Append one list to another, if it is a regular file."""
    # Through `opener`, since `open` does not close a descriptor passed to it when it refuses a folder's.
    with (
        suppress(OSError),
        open(source, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as stream,
    ):
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            with target.open("ab") as copy:
                copy.write(stream.read(_NOTES))
