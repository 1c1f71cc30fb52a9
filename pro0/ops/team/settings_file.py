"""A person's change of one setting in a settings file."""

from collections.abc import Callable
from pathlib import Path

from pro0 import config
from pro0.store import atomic
from pro0.store.files import make_folder, translate


def put(path: Path, name: str, text: str) -> None:
    """Give a setting a value in a settings file, which is made if need be; raises BadInput, and changes nothing."""
    value = config.value_of(name, text)
    _change(path, lambda before: config.with_value(before, path, name, value))


def drop(path: Path, name: str) -> None:
    """Let a settings file say nothing about a setting; raises BadInput, and changes nothing."""
    config.known(name)
    _change(path, lambda before: config.without_value(before, path, name))


def _change(path: Path, edit: Callable[[str], str]) -> None:
    before = config.text_of(path)
    after = edit(before)
    if after == before:
        return
    real = path.resolve()  # who keeps their settings elsewhere, behind a link, keeps them there
    make_folder(real.parent)
    try:
        with atomic.folder(real.parent) as folder:
            atomic.replace(folder, real.name, after.encode())
    except OSError as error:
        translate(error, real)
