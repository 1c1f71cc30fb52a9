"""A team of real agents, driven and seen through the program alone."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import TurnUsage
from pro0.store.paths import LEAD_LOG
from tests.conftest import Result
from tests.e2e.conftest import Cli, Team
from tests.leftovers import processes_under
from tests.living import ended
from tests.real_agents.scripts import marker
from tests.real_agents.states import PATIENCE
from tests.real_agents.terminal import Pane
from tests.waiting import wait_until

AGAIN = 5.0
"""Seconds after which a person does something when nothing came of what they did."""
PAUSE = 0.3
"""Seconds between two looks: each is a command, and those of a test would take more of the machine than its agents."""


class RealTeam(Team):
    """A team whose members may be any agents, in tmux."""

    def __init__(self, cli: Cli, project: Path, home: Path, provider: Provider) -> None:
        super().__init__(cli, project, home)
        self.provider = provider

    def __call__(self, *arguments: str, code: int = 0, **options: Any) -> Result:
        """Run a command in the project and expect this exit code; it may take as long as real agents do."""
        return super().__call__(*arguments, code=code, **{"seconds": 2 * PATIENCE, **options})

    def begin(self, *words: str, **members: str) -> None:
        """Start the team with these members, name=agent, who may do anything unasked unless the words forbid."""
        seats = [word for name, agent in members.items() for word in ("-m", f"{name}={agent}")]
        mode = () if "--permission-mode" in words else ("--permission-mode", "bypass")
        self("team", "start", self.name, "--detach", "--mode", "tmux", *mode, *seats, *words)

    def end(self) -> None:
        """Remove the team, whatever state it is in."""
        self.cli("team", "cleanup", self.name, "--force", cwd=self.project, seconds=PATIENCE)

    def task(self, task: str) -> dict[str, Any]:
        """Return one task."""
        return self.tasks()[task]

    def used(self, name: str) -> TurnUsage:
        """Return the tokens that pro0 has counted for one member."""
        members = self.json("team", "cost")["members"]
        row = next((row for row in members if row["agentId"] == name), None)
        return TurnUsage(row["inputTokens"], row["cacheReadTokens"], row["outputTokens"]) if row else TurnUsage()

    def tree(self, name: str) -> list[psutil.Process]:
        """Return the processes of a member's session, its agent's first."""
        agent = psutil.Process(self.member(name)["pid"])
        return [agent, *agent.children(recursive=True)]

    def kill_everything(self) -> None:
        """Kill agents, guards, the lead and tmux, all that belongs to this person, at once."""
        while left := processes_under(self.home.parent):
            for one in left:
                with suppress(psutil.Error):
                    one.process.kill()
            psutil.wait_procs([one.process for one in left], timeout=10)

    def pane(self, name: str) -> Pane:
        """Return the pane of a member, for a person's eyes and hands."""
        [socket] = [path for path in Path(os.environ["TMUX_TMPDIR"]).rglob("*") if path.is_socket()]
        return Pane("-S", str(socket), target=self.member(name)["pane"])

    def order(self, text: str, done: Callable[[], object], what: str) -> None:
        """Type a text into the pane of w1 and send it, as a person who looks whether it went.

        Agents take an Enter that comes too soon for a new line.
        """
        pane, pressed = self.pane("w1"), 0.0

        def went() -> bool:
            nonlocal pressed
            if not done() and time.monotonic() - pressed > AGAIN:
                pane.keys("Enter")
                pressed = time.monotonic()
            return bool(done())

        pane.keys("-l", text)
        self.eventually(lambda: text in pane.screen(), f"{text} is typed")
        self.eventually(went, what)

    def carried(self, name: str) -> Counter[str]:
        """Return how many lines about mail each channel has carried to a member, or keys."""
        lines = (self.home / "teams" / self.name / "logs" / LEAD_LOG).read_text(encoding="utf-8").splitlines()
        events = [event for event in map(json.loads, lines) if event["event"] == "nudged" and event["agent"] == name]
        return Counter(str(event["by"]) for event in events if not event["queued"])

    def becomes(self, name: str, state: str) -> None:
        """Wait until a member is in a state."""
        self.eventually(lambda: self.state(name) == state, f"{name} is {state}")

    def counted(self, name: str) -> None:
        """Wait until pro0 has counted all that the provider said one member's model used."""
        spent = self.provider.spent(marker(name))
        try:
            self.eventually(lambda: self.used(name) == spent, f"{name} has used {spent}")
        except AssertionError as error:
            error.add_note(f"counted: {self.used(name)}; told: {[one.usage for one in self.provider.of(marker(name))]}")
            raise

    def read(self, name: str) -> str:
        """Return all that the tools of one member have answered."""
        return "\n".join(self.provider.results(marker(name)))

    def tell(self, name: str, text: str) -> None:
        """Send a message, and wait until a model got it: the command ends once it was read, a moment before that."""
        self("send", name, text, "--wait", str(2 * PATIENCE))
        self.eventually(
            lambda: any(text in one for exchange in self.provider.exchanges for one in exchange.request.results()),
            f"{text} is heard",
        )
        self.becomes(name, "idle")

    def eventually(
        self, condition: Callable[[], object], what: str, seconds: float = PATIENCE, every: float = PAUSE
    ) -> None:
        """Wait as long as a real agent may take; a failure tells what could be seen."""
        try:
            wait_until(condition, seconds, what, every)
        except AssertionError as error:
            for note in self._scene():
                error.add_note(note)
            raise

    def _scene(self) -> Iterator[str]:
        for member in self.json("team", "status")["members"]:
            yield json.dumps(member)
            yield self.cli("member", "peek", member["agentId"], cwd=self.project).out
        for exchange in self.provider.exchanges[-10:]:
            asked = " | ".join(f"{entry.who}: {entry.text[-300:]}" for entry in exchange.request.news[-3:])
            yield f"{exchange.marker or 'nobody'} was told {asked!r} and answered {exchange.turn}"


def gone(tree: list[psutil.Process]) -> bool:
    """Tell whether none of these processes runs any more."""
    return all(ended(process) for process in tree)
