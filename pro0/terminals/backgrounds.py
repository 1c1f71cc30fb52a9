"""Backgrounds of rows without text: libghostty-vt's formatter leaves out rows erased in a colour.

The render state has them as raw cells, row by row; only non-zero cells need a look.
"""

import ctypes
from itertools import groupby

_ITERATOR, _RAW = 4, 5
_TAG, _PALETTE, _RGB = 2, 10, 11
_IS_PALETTE, _IS_RGB = 2, 3
_CELL = 8


class _Cells(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Backgrounds:
    """The backgrounds of one terminal."""

    def __init__(self, library: ctypes.CDLL, terminal: ctypes.c_void_p) -> None:
        self._library = library
        self._terminal = terminal
        self._state, self._iterator = ctypes.c_void_p(), ctypes.c_void_p()
        _done(library.ghostty_render_state_new(None, ctypes.byref(self._state)))
        _done(library.ghostty_render_state_row_iterator_new(None, ctypes.byref(self._iterator)))

    def fill(self, rows: list[str]) -> None:
        """Add the background to the screen's rows without text."""
        if "" not in rows:
            return
        _done(self._library.ghostty_render_state_update(self._state, self._terminal))
        _done(self._library.ghostty_render_state_get(self._state, _ITERATOR, ctypes.byref(self._iterator)))
        for index, row in enumerate(rows):
            if not self._library.ghostty_render_state_row_iterator_next(self._iterator):
                return
            if not row:
                rows[index] = self._painted()

    def close(self) -> None:
        """Give the memory back."""
        self._library.ghostty_render_state_row_iterator_free(self._iterator)
        self._library.ghostty_render_state_free(self._state)

    def _painted(self) -> str:
        """Return the iterator's row, or "" for a row without a background."""
        cells = _Cells()
        _done(self._library.ghostty_render_state_row_get(self._iterator, _RAW, ctypes.byref(cells)))
        raw = ctypes.string_at(cells.data, cells.length * _CELL)
        if raw == bytes(len(raw)):
            return ""
        runs = [(self._background(cell), len(list(run))) for cell, run in groupby(memoryview(raw).cast("Q"))]
        while runs and not runs[-1][0]:
            runs.pop()
        return "".join(f"\x1b[0m{sgr}{' ' * length}" for sgr, length in runs) + ("\x1b[0m" if runs else "")

    def _background(self, cell: int) -> str:
        """Return the SGR of a cell's background, or "" for a cell without one."""
        tag = self._value(cell, _TAG, ctypes.c_int)
        if tag == _IS_PALETTE:
            return f"\x1b[48;5;{self._value(cell, _PALETTE, ctypes.c_uint8)}m"
        if tag == _IS_RGB:
            colour = (ctypes.c_uint8 * 3)()
            _done(self._library.ghostty_cell_get(cell, _RGB, ctypes.byref(colour)))
            return f"\x1b[48;2;{';'.join(map(str, colour))}m"
        return ""

    def _value(self, cell: int, field: int, kind: type[ctypes.c_int | ctypes.c_uint8]) -> int:
        value = kind()
        _done(self._library.ghostty_cell_get(cell, field, ctypes.byref(value)))
        return int(value.value)


def _done(result: int) -> None:
    if result:
        raise OSError(f"libghostty-vt: the background cannot be read ({result})")
