"""The home of Gemini CLI in a session: links into the person's own home, with our settings below theirs.

Gemini reads a machine's defaults only from files of root, so an ordinary user's session cannot bring defaults of its
own. Gemini writes its files to the usual places, except for its settings: changes to them last only for the session.
"""

import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0.agents import layers, there
from pro0.agents.transcripts import head
from pro0.errors import BadInput

VARIABLE = "GEMINI_CLI_HOME"
TRUSTED = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"
"""The variable of the file with the folders that the person trusts."""
FOLDER = "home"
"""The folder of that home, in the folder of the session."""
SETTINGS = "settings.json"
OURS = "defaults.json"
"""The file with our settings in a session on another machine; the pro0 there makes the home from it."""
LARGEST = 1 << 20
_DATA = ".gemini"
_PERSON = "person"
"""The link to the person's home."""
_BESIDE = (".agents", ".env")
"""What Gemini reads in a home beside its own folder."""
_FOLDERS = ("tmp", "history", "policies")
"""Folders that Gemini makes when it needs them; it cannot make them through a dangling link."""
_FILES = (
    *("oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "mcp-oauth-tokens.json"),
    *("installation_id", "state.json", "GEMINI.md"),
)
"""Files that Gemini may write for the first time in a session, even through a dangling link."""
THERE = f"""
{TRUSTED}="${{{TRUSTED}:-${{{VARIABLE}:-$HOME}}/.gemini/trustedFolders.json}}"
if pro0 hosted gemini; then export {TRUSTED} {VARIABLE}="{there.FOLDER}/{FOLDER}"; fi
"""
"""The shell lines that make the home on another machine; if that fails, Gemini runs without our tools."""
_ABSENT = (FileNotFoundError, NotADirectoryError)
_NO = ("", "0", "false")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def data(environment: Mapping[str, str]) -> Path:
    """Return the person's folder of Gemini's data."""
    return _of_person(environment) / _DATA


def _of_person(environment: Mapping[str, str]) -> Path:
    """Return the person's home, also inside a session with a home of links."""
    if not (chosen := environment.get(VARIABLE)):  # set in every session
        return Path(environment.get("HOME", "/"))
    with suppress(OSError):
        if (persons := Path(chosen, _PERSON).readlink()).is_absolute():
            return persons
    return Path(chosen)


def trusted(environment: Mapping[str, str]) -> Path:
    """Return the file with the folders that the person trusts."""
    return Path(environment.get(TRUSTED) or data(environment) / "trustedFolders.json")


def variables(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return the variables that lead Gemini to the home in the folder of a session."""
    return {VARIABLE: f"{folder}/{FOLDER}", TRUSTED: str(trusted(environment))}


def settings(environment: Mapping[str, str], ours: layers.Settings) -> bytes:
    """Return the person's settings with ours below them; raises BadInput when theirs cannot be read."""
    return msgspec.json.encode(layers.merged(ours, _read(data(environment) / SETTINGS)))


def is_sandboxed(environment: Mapping[str, str], folder: str) -> bool:
    """Return True when Gemini runs in its own sandbox, without the targets of the links; raises BadInput as `_read`."""
    if setting := environment.get("GEMINI_SANDBOX", "").strip().lower():
        return setting not in _NO
    layer = layers.merged(_read(data(environment) / SETTINGS), _read(Path(folder, _DATA, SETTINGS)))
    tools = layer.get("tools")
    sandbox = tools.get("sandbox") if isinstance(tools, dict) else None
    return (sandbox.get("enabled") if isinstance(sandbox, dict) else sandbox) not in (None, False, *_NO)


def _read(path: Path) -> layers.Settings:
    """Return the settings in a file; raises BadInput for an unreadable one, since it may set a sandbox."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"{path} is not a regular file", hint="replace it by a regular file, or remove it")
        text = head(path, LARGEST).decode(errors="replace")
    except _ABSENT:
        return {}
    except OSError as error:
        raise _unreadable(path, error) from error
    return layers.parsed(_COMMENT.sub(r"\1", text), str(path)) if text.strip() else {}


def _unreadable(path: Path, error: OSError) -> BadInput:
    hint = f"make {path} readable, or move it away"
    return BadInput(f"{path} cannot be read: {error.strerror or error}", hint=hint)


def links(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the links of the home by name in the session's folder, with their targets; a folder's target ends with /.

    Raises BadInput for a person's folder that cannot be listed.
    """
    home, theirs = _of_person(environment), data(environment)
    entries: list[str] = []
    try:
        entries = [path.name for path in theirs.iterdir()]
    except _ABSENT:
        pass
    except OSError as error:
        raise _unreadable(theirs, error) from error
    names = {*_FILES, *entries} - {SETTINGS, *_FOLDERS}
    return {
        f"{FOLDER}/{_PERSON}": str(home),
        **{f"{FOLDER}/{name}": str(home / name) for name in _BESIDE},
        f"{FOLDER}/{SETTINGS}": f"../{SETTINGS}",  # where Gemini 0.61 looks before it restarts itself
        f"{FOLDER}/{_DATA}/{SETTINGS}": f"../../{SETTINGS}",
        **{f"{FOLDER}/{_DATA}/{name}": f"{theirs / name}/" for name in _FOLDERS},
        **{f"{FOLDER}/{_DATA}/{name}": str(theirs / name) for name in sorted(names)},
    }
