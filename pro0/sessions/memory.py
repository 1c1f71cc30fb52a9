"""A backend for tests: it shows nothing, records every request, and ends sessions on demand."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, Refused
from pro0.model.runtime import Handle, Process, Terminal
from pro0.model.screen import Screen
from pro0.sessions.backend import Asked, Key, Opening, Place, always
from pro0.sessions.starting import check


class InMemory:
    """Sessions in this object only."""

    name = "memory"
    pace = 0.0

    def __init__(self) -> None:
        self.opened: dict[Handle, Opening] = {}
        """Every successful opening, by its handle."""
        self.living: set[Handle] = set()
        self.screens: dict[str, str] = {}
        """The screens of sessions, by incarnation; tests write them."""
        self.nudges: list[tuple[str, str]] = []
        """Every delivered nudge, as incarnation and line."""
        self.keys: list[tuple[str, Key]] = []
        """Every pressed key, as incarnation and key."""
        self.labels: dict[str, str] = {}
        """The labels of borders, by incarnation."""
        self.marks: set[str] = set()
        self.count = 0
        self.rings: list[str] = []
        self.focused = ""
        self.busy: set[str] = set()
        """The incarnations refusing nudges now."""
        self.missing = ""
        """The reason no session can be opened; empty for none."""

    def open(self, place: Place, openings: Sequence[Opening]) -> tuple[Handle, ...]:
        """Record the openings and return a handle for each; raises EnvironmentMissing when `missing` is set."""
        check(place, openings)
        if self.missing:
            raise EnvironmentMissing(self.missing)
        opened_before = len(self.opened)
        handles = tuple(
            Handle(backend=self.name, incarnation=opening.incarnation, pane=f"%{number}", log=str(opening.log))
            for number, opening in enumerate(openings, opened_before)
        )
        self.opened.update(zip(handles, openings, strict=True))
        self.living.update(handles)
        return handles

    def die(self, handle: Handle) -> None:
        """End a session as if it had ended on its own."""
        self.living.discard(handle)

    def terminal(self, place: Place, incarnation: str) -> Terminal | None:  # noqa: ARG002
        """Return None: there is no terminal."""
        return None

    def alive(self, handles: Sequence[Handle]) -> frozenset[str]:
        """Return the incarnations of living sessions."""
        return frozenset(handle.incarnation for handle in handles if handle in self.living)

    def find(self, place: Place, incarnation: str, guard: Process, log: Path) -> Handle | None:  # noqa: ARG002
        """Return the handle of a living session."""
        return next((handle for handle in self.living if handle.incarnation == incarnation), None)

    def peek(self, handle: Handle, lines: int) -> str:
        """Return the last lines of a test's text in `screens`; raises Refused when the session has ended."""
        self._check(handle)
        return "\n".join(self.screens.get(handle.incarnation, "").splitlines()[-lines:])

    def look(self, handles: Sequence[Handle]) -> dict[str, Screen]:
        """Return the tests' texts in `screens`."""
        texts = {handle.incarnation: self.screens.get(handle.incarnation, "") for handle in handles}
        alive = self.alive(handles)
        return {name: Screen(rows=tuple(text.splitlines())) for name, text in texts.items() if name in alive}

    def nudge(self, handle: Handle, line: str, may_press: Asked = always, looked: float | None = None) -> bool:  # noqa: ARG002
        """Record the line; False for a session in `busy`, Refused when the session has ended."""
        if not line.isprintable() or not line.strip():
            raise BadInput("a nudge is one line of printable text")
        self._check(handle)
        if handle.incarnation in self.busy or not may_press():
            return False
        self.nudges.append((handle.incarnation, line))
        return True

    def press(self, handle: Handle, key: Key, looked: float | None = None) -> bool:  # noqa: ARG002
        """Record the key; False for a session in `busy`, Refused when the session has ended."""
        self._check(handle)
        if handle.incarnation in self.busy:
            return False
        self.keys.append((handle.incarnation, key))
        return True

    def type(self, handle: Handle, data: bytes) -> bool:  # noqa: ARG002
        """Return False: nobody reads here."""
        return False

    def label(self, states: Mapping[Handle, str]) -> None:
        """Record the labels of borders."""
        self.labels.update({handle.incarnation: text for handle, text in states.items()})

    def mark(self, needed: Mapping[Handle, bool], count: int) -> None:
        """Record the number of needs, and the members that keep the person waiting."""
        self.marks = {handle.incarnation for handle, is_needed in needed.items() if is_needed}
        self.count = count

    def ring(self, handles: Sequence[Handle], title: str, text: str) -> None:  # noqa: ARG002
        """Record the notice."""
        self.rings.append(text)

    def focus(self, handle: Handle) -> bool:
        """Record the session shown to the person; Refused when it has ended."""
        self._check(handle)
        self.focused = handle.incarnation
        return True

    def close(self, handle: Handle) -> None:
        """End this session only."""
        self.living.discard(handle)

    def attach_command(self, place: Place, handles: Sequence[Handle]) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: there is nothing to watch."""
        return ()

    def dismantle(self, place: Place) -> None:
        """Remove nothing: there is no server."""

    def _check(self, handle: Handle) -> None:
        if handle not in self.living:
            raise Refused(f"pane {handle.pane} is gone", code=ErrorCode.BACKEND_STALE)
