"""Change one setting in a person's settings file."""

import codecs
import stat
from collections.abc import Callable
from pathlib import Path

from pro0 import config, looking
from pro0.store import atomic
from pro0.store.files import make_folder, translate
from pro0.store.lock import folder_locked


def put(path: Path, name: str, text: str) -> None:
    """Set a value in a settings file, making the file if needed; raises BadInput without any change."""
    value = config.value_of(name, text)
    _change(path, lambda before: config.with_value(before, path, name, value))


def drop(path: Path, name: str) -> None:
    """Remove a setting from a settings file; raises BadInput without any change."""
    config.setting_named(name)
    _change(path, lambda before: config.without_value(before, path, name))


def _change(path: Path, edit: Callable[[str], str]) -> None:
    before = config.text_of(path)
    if edit(before) == before:
        return
    real = path.resolve()  # settings behind a link stay in their place
    make_folder(real.parent)
    try:
        with folder_locked(real.parent) as folder:
            # Read under the lock: otherwise the later of two simultaneous changes would undo the other.
            after = edit(config.text_of(path)).encode(_encoding(real))
            atomic.replace(folder, real.name, after, mode=_mode(real))
    except OSError as error:
        translate(error, real)


def _encoding(path: Path) -> str:
    """Return the encoding for a settings file: one with a byte order mark keeps it."""
    marked = looking.exists(path) and path.read_bytes().startswith(codecs.BOM_UTF8)
    return "utf-8-sig" if marked else "utf-8"


def _mode(path: Path) -> int:
    """Return the mode for a settings file: a present one keeps its mode, a new one is the person's alone."""
    return stat.S_IMODE(path.stat().st_mode) if looking.exists(path) else atomic.FILE_MODE
