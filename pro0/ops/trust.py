"""Trust: a project's files may do some things only after the person has agreed to their present text.

Anybody may have written these files: the repository's author, or an agent working in it. Settings of appearance, and
limits not above the person's own, count at once. Four kinds count only as agreed to with `pro0 config trust`: things to
run (hooks, layouts, agents, commands), to hand out (variables, the store), to allow (modes, verdicts) and to spend
(higher limits of sessions, tasks and times).
"""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0 import config, looking, resources
from pro0.errors import ErrorCode, Refused
from pro0.model.home import Consent
from pro0.rules import text
from pro0.store.files import File, make_folder
from pro0.store.paths import LAYOUT_SUFFIXES, TRUSTED

LAYOUTS = Path(".pro0") / "layouts"
"""The project's layouts, in the project directory."""
_consent = partial(File, name=TRUSTED, kind=Consent, absent=Consent)


def settings(
    home: Path, project: Path | None, environ: Mapping[str, str], flags: Mapping[str, object] | None = None
) -> config.Settings:
    """Return the settings in force; flags have the settings' names, None for an absent flag."""
    return config.load(home, project, environ, flags or {}, partial(_agreed, home, project))


def chosen(home: Path, project: Path, environ: Mapping[str, str]) -> tuple[config.Chosen, ...]:
    """Return every setting in force, with its source."""
    return config.explain(home, project, environ, {}, partial(_agreed, home, project))


def granted(home: Path, project: Path) -> config.Powers:
    """Return the requests of a project's settings when the person has agreed to their present text, else nothing."""
    powers = config.powers(home, project)
    return powers if _agreed(home, project, powers) else {}


def withheld(home: Path, project: Path) -> config.Powers:
    """Return the requests of a project's settings without the person's agreement to their present text."""
    powers = config.powers(home, project)
    return {} if _agreed(home, project, powers) else powers


def requests_of(home: Path, project: Path) -> config.Powers:
    """Return all requests of a project's files, by hook, setting and layout."""
    return {**config.powers(home, project), **_layouts(project)}


def agree(home: Path, project: Path) -> config.Powers:
    """Agree to all present requests of a project's files and return them; any change needs a new yes."""
    powers, layouts = config.powers(home, project), _layouts(project)
    agreed = {str(project): digest(powers)} if powers else {}
    agreed |= {str(project / name): digest({"": content}) for name, content in layouts.items()}
    make_folder(home)
    with _consent(home).change("agree to what a project asks for") as change:
        elsewhere = {
            name: version
            for name, version in change.value.projects.items()
            if name != str(project) and Path(name).parent != project / LAYOUTS
        }
        change.value = replace(change.value, projects=elsewhere | agreed)
    return {**powers, **layouts}


def agreed_projects(home: Path) -> set[Path]:
    """Return the projects of which the person has agreed to a file."""
    paths = {Path(name) for name in _consent(home).read().projects} if looking.is_folder(home) else set[Path]()
    return {path.parents[2] if path.parent.parts[-2:] == LAYOUTS.parts else path for path in paths}


def require_layout(home: Path, project: Path, layout: Path, data: bytes) -> None:
    """Raise Refused for a project's layout without the person's agreement to its present text."""
    if layout.parent == project / LAYOUTS and not _is_agreed(home, layout, _version(data)):
        raise Refused(
            f"you have not agreed to the layout {layout}, which can run commands",
            code=ErrorCode.NOT_TRUSTED,
            hint="look at it, then: pro0 config trust",
        )


def layout_places(project: Path, home: Path) -> tuple[Path, ...]:
    """Return the folders of layouts: of the project, of the person, and those that are shipped."""
    return project / LAYOUTS, home / "layouts", resources.data("layouts")


def layout_names(project: Path, home: Path) -> list[str]:
    """Return the names of all layouts."""
    files = [path for place in layout_places(project, home) if looking.is_folder(place) for path in place.iterdir()]
    return sorted({path.stem for path in files if path.suffix in LAYOUT_SUFFIXES})


def digest(powers: config.Powers) -> str:
    """Return a digest identifying these requests."""
    return text.digest(msgspec.json.encode(sorted(powers.items())))


def _agreed(home: Path, project: Path | None, powers: config.Powers) -> bool:
    return not powers or _word(home, project) == digest(powers)


def _is_agreed(home: Path, layout: Path, content: tuple[str, ...]) -> bool:
    return _word(home, layout) == digest({"": content})


def _word(home: Path, path: Path | None) -> str:
    """Return the digest of the requests agreed to for a project or a layout, "" for none."""
    return _consent(home).read().projects.get(str(path), "") if looking.is_folder(home) else ""


def _layouts(project: Path) -> config.Powers:
    """Return the layouts of a project, each with a digest of its version."""
    folder = project / LAYOUTS
    entries = folder.iterdir() if looking.is_folder(folder) else ()
    files = sorted(path for path in entries if path.suffix in LAYOUT_SUFFIXES)
    return {str(LAYOUTS / path.name): _version(_bytes(path)) for path in files if looking.is_file(path)}


def _bytes(path: Path) -> bytes:
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        return stream.read(config.SIZE_LIMIT + 1)


def _version(data: bytes) -> tuple[str, ...]:
    return (f"sha256 {text.digest(data)}",)
