"""The screen model: libghostty-vt, from the wheel of pyghostty, called through ctypes.

pyghostty itself is not imported. It reads 3,500 lines of C declarations at every start: 200 ms and 8 MiB for each
guard, against 5 ms and 2 MiB with ctypes. So the numbers and structures below belong to one version, required by
pro0/terminals/library.py.

A program's output triggers nothing: only the callback for answers is set. So clipboard, notifications and pictures
from files lead nowhere.
"""

import ctypes
import re
from collections.abc import Callable
from functools import lru_cache

from pro0.terminals.backgrounds import Backgrounds
from pro0.terminals.emulator import Cursor
from pro0.terminals.links import Links

_OUT_OF_SPACE, _NO_VALUE = -3, -4
_PLAIN, _VT = 0, 1
_WRITE_PTY, _IMAGES, _MOST_BYTES, _MOST_LINES = 1, 15, 27, 28
_COLUMNS, _LINES, _CURSOR_X, _CURSOR_Y, _CURSOR_VISIBLE, _TITLE, _MODE, _GROUND = 1, 2, 3, 4, 7, 12, 37, 38
_CELL = (8, 16)
"""Pixels of a cell, used only in reports of sizes in pixels."""
_CELL_BYTES = 17
"""History bytes for each cell of a kept line: 9 for plain text, more with emoji and links."""
_HISTORY_BYTES = 64 << 20
_ROOM = 1 << 16
_MODIFIED_KEYS = re.compile(rb"\x1b\[>4(?:;([0-2]))?m")
_CUT = 6
"""The most bytes of an unfinished sequence of this kind at the end of a piece of output."""


class _Place(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint16), ("y", ctypes.c_uint32), ("padding", ctypes.c_uint64)]


class _Point(ctypes.Structure):
    """GhosttyPoint, a tagged union passed by value, as a structure of the same layout."""

    _fields_ = [("tag", ctypes.c_int), ("place", _Place)]


class _Ref(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("node", ctypes.c_void_p),
        ("x", ctypes.c_uint16),
        ("y", ctypes.c_uint16),
    ]


class _Selection(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("start", _Ref), ("end", _Ref), ("rectangle", ctypes.c_bool)]


class _ScreenExtra(ctypes.Structure):
    """Extras beside the text; all are left out."""

    _fields_ = [("size", ctypes.c_size_t), ("flags", ctypes.c_bool * 6)]


class _TerminalExtra(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("flags", ctypes.c_bool * 6), ("screen", _ScreenExtra)]


class _Format(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("emit", ctypes.c_int),
        ("unwrap", ctypes.c_bool),
        ("trim", ctypes.c_bool),
        ("extra", _TerminalExtra),
        ("selection", ctypes.POINTER(_Selection)),
    ]


class _Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _ModeValue(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_uint16), ("value", ctypes.c_bool)]


_Number = ctypes.c_uint16 | ctypes.c_bool
_REPLY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Ghostty:
    """One terminal; see emulator.Emulator. `reply` gets its answers to the program. For one thread."""

    def __init__(
        self, library: str, columns: int, lines: int, scrollback: int, reply: Callable[[bytes], object]
    ) -> None:
        self._library = _loaded(library)
        self._terminal = ctypes.c_void_p()
        _done(self._library.ghostty_terminal_new(None, ctypes.byref(self._terminal), columns, lines), "terminal")
        self._reply = _REPLY(lambda _terminal, _data, text, length: reply(ctypes.string_at(text, length)) and None)
        self._set(_WRITE_PTY, ctypes.cast(self._reply, ctypes.c_void_p))
        for option, value in ((_MOST_LINES, 2 * scrollback), (_IMAGES, 0)):
            self._set(option, ctypes.byref(ctypes.c_uint64(value)))
        self._scrollback, self._widest = scrollback, 0
        self._remember(columns)
        self._room = ctypes.create_string_buffer(_ROOM)
        self._backgrounds = Backgrounds(self._library, self._terminal)
        self._links = Links(self._is_text)
        self._modified_keys, self._last = 0, b""

    def feed(self, data: bytes) -> None:
        """Take in the program's output, all but its links."""
        for piece in self._links.voided(data):
            self._library.ghostty_terminal_vt_write(self._terminal, piece, len(piece))
        output = self._last + data
        for request in _MODIFIED_KEYS.finditer(output):  # the library does not report it
            self._modified_keys = int(request[1] or 0)
        self._last = output[-_CUT:]

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size; the main screen's lines are wrapped anew."""
        self._remember(columns)
        _done(self._library.ghostty_terminal_resize(self._terminal, columns, lines, *_CELL), "resize")

    def rows(self) -> list[str]:
        """Return every row of the screen with SGR escapes; each row begins plain."""
        lines = self._number(_LINES)
        selection = _Selection(
            size=ctypes.sizeof(_Selection), start=self._ref(0, 0), end=self._ref(self._number(_COLUMNS) - 1, lines - 1)
        )
        lines_shown = (self._formatted(selection, _VT).split("\r\n") + [""] * lines)[:lines]
        self._backgrounds.fill(lines_shown)
        return lines_shown

    def history(self) -> list[str]:
        """Return all rows, from the oldest in the history to the last of the screen."""
        everything = self._everything()
        return self._formatted(everything, _VT).split("\r\n") if everything else []

    def text(self, lines: int) -> str:
        """Return the last lines as plain text, long lines unwrapped."""
        everything = self._everything()
        text_lines = self._formatted(everything, _PLAIN, unwrap=True).rstrip().split("\n") if everything else []
        return "\n".join(line.rstrip() for line in text_lines[-lines:])

    def cursor(self) -> Cursor:
        """Return the cursor."""
        visible = bool(self._number(_CURSOR_VISIBLE, ctypes.c_bool))
        return Cursor(self._number(_CURSOR_X), self._number(_CURSOR_Y), visible)

    def title(self) -> str:
        """Return the title set by the program."""
        text = _Text()
        _done(self._library.ghostty_terminal_get(self._terminal, _TITLE, ctypes.byref(text)), "title")
        return ctypes.string_at(text.data, text.length).decode(errors="replace") if text.length else ""

    def mode(self, number: int) -> bool:
        """Return True when a DEC private mode is set."""
        mode_value = _ModeValue(mode=number)
        return not self._library.ghostty_terminal_get(self._terminal, _MODE, ctypes.byref(mode_value)) and bool(
            mode_value.value
        )

    def modified_keys(self) -> int:
        """Return the level of keys with modifiers that the program asked for."""
        return self._modified_keys

    def close(self) -> None:
        """Free the memory; the terminal is unusable afterwards."""
        self._backgrounds.close()
        self._library.ghostty_terminal_free(self._terminal)

    def _is_text(self) -> bool:
        """Return True when the output so far ends outside of any sequence."""
        return bool(self._number(_GROUND, ctypes.c_bool))

    def _set(self, option: int, value: object) -> None:
        _done(self._library.ghostty_terminal_set(self._terminal, option, value), f"option {option}")

    def _remember(self, columns: int) -> None:
        """Size the history for its lines at the terminal's greatest width so far.

        Over its limit in bytes, the library reuses the memory of old lines. Over its limit in lines, it returns
        that memory and allocates anew, fifteen times slower than all the rest. So the limit in bytes must come first.
        """
        if columns > self._widest:
            self._widest = columns
            size = min(self._scrollback * columns * _CELL_BYTES, _HISTORY_BYTES)
            self._set(_MOST_BYTES, ctypes.byref(ctypes.c_size_t(size)))

    def _number(self, field: int, kind: Callable[[], _Number] = ctypes.c_uint16) -> int:
        value = kind()
        _done(self._library.ghostty_terminal_get(self._terminal, field, ctypes.byref(value)), f"value {field}")
        return int(value.value)

    def _ref(self, column: int, line: int) -> _Ref:
        ref = _Ref(size=ctypes.sizeof(_Ref))
        point = _Point(place=_Place(x=column, y=line))
        _done(self._library.ghostty_terminal_grid_ref(self._terminal, point, ctypes.byref(ref)), "place")
        return ref

    def _everything(self) -> _Selection | None:
        selection = _Selection(size=ctypes.sizeof(_Selection))
        result = self._library.ghostty_terminal_select_all(self._terminal, ctypes.byref(selection))
        if result != _NO_VALUE:
            _done(result, "selection")
        return selection if not result else None

    def _formatted(self, selection: _Selection, emit: int, *, unwrap: bool = False) -> str:
        how = _Format(size=ctypes.sizeof(_Format), emit=emit, unwrap=unwrap, trim=True)
        how.selection = ctypes.pointer(selection)
        how.extra.size, how.extra.screen.size = ctypes.sizeof(_TerminalExtra), ctypes.sizeof(_ScreenExtra)
        formatter = ctypes.c_void_p()
        _done(
            self._library.ghostty_formatter_terminal_new(None, ctypes.byref(formatter), self._terminal, how), "format"
        )
        try:
            return self._written(formatter)
        finally:
            self._library.ghostty_formatter_free(formatter)

    def _written(self, formatter: ctypes.c_void_p) -> str:
        length = ctypes.c_size_t()
        write = self._library.ghostty_formatter_format_buf
        while (result := write(formatter, self._room, len(self._room), ctypes.byref(length))) == _OUT_OF_SPACE:
            self._room = ctypes.create_string_buffer(length.value + _ROOM)
        _done(result, "text")
        return self._room.raw[: length.value].decode(errors="replace")


def _done(result: int, call: str) -> None:
    if result:
        raise OSError(f"libghostty-vt: {call} failed ({result})")


@lru_cache
def _loaded(path: str) -> ctypes.CDLL:
    """Load the library and declare its functions to ctypes."""
    library = ctypes.CDLL(path)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    takes: dict[str, tuple[object, ...]] = {
        "terminal_new": (pointer, pointer, ctypes.c_uint16, ctypes.c_uint16),
        "terminal_free": (pointer,),
        "terminal_set": (pointer, number, pointer),
        "terminal_get": (pointer, number, pointer),
        "terminal_resize": (pointer, ctypes.c_uint16, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint32),
        "terminal_vt_write": (pointer, ctypes.c_char_p, size),
        "terminal_grid_ref": (pointer, _Point, pointer),
        "terminal_select_all": (pointer, pointer),
        "formatter_terminal_new": (pointer, pointer, pointer, _Format),
        "formatter_format_buf": (pointer, pointer, size, pointer),
        "formatter_free": (pointer,),
        "render_state_new": (pointer, pointer),
        "render_state_update": (pointer, pointer),
        "render_state_get": (pointer, number, pointer),
        "render_state_free": (pointer,),
        "render_state_row_iterator_new": (pointer, pointer),
        "render_state_row_iterator_next": (pointer,),
        "render_state_row_iterator_free": (pointer,),
        "render_state_row_get": (pointer, number, pointer),
        "cell_get": (ctypes.c_uint64, number, pointer),
    }
    answers = {"_free": None, "_write": None, "_next": ctypes.c_bool}
    for name, arguments in takes.items():
        function = getattr(library, f"ghostty_{name}")
        function.argtypes = arguments
        function.restype = next((kind for end, kind in answers.items() if name.endswith(end)), number)
    return library
