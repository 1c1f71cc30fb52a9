"""The shell agent on another machine than its team: it asks home for everything that the store holds.

A line typed by the lead makes the agent look for news, as it makes a model. Without a line the agent looks seldom,
since each look is a process at home. While home is out of reach a task's command goes on, and its outcome waits.
"""

import json
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pro0.agent_output import AgentOutput
from pro0.children import Ending
from pro0.errors import BadInput, ErrorCode, NotFound, Pro0Error, Refused
from pro0.model.message import MessageType
from pro0.model.runtime import State
from pro0.ops.work.claims import TAKEN_AWAY
from pro0.shell_agent.command import Command, carried_out, how

IDLE_LOOK, BUSY_LOOK = 60.0, 10.0
"""Seconds between two looks without a line: when idle, and at work."""
AGAIN = 2.0
"""Seconds until an outcome that home could not store is reported again."""

Ask = Callable[[list[str], str], dict[str, object]]
"""Let home do a command with a text on stdin; return {code, out, errors}."""


class HomeCommands:
    """The commands done at home, with their results as values."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def do(self, *words: str, given: str = "") -> Any:
        """Return the JSON output of a command; raises Refused, or Pro0Error when the command may succeed later."""
        return json.loads(self._done([*words, "--json"], given))

    def say(self, *words: str) -> bool:
        """Let home do a command without JSON; False when refused. Raises Pro0Error when it may succeed later."""
        try:
            self._done([*words], "")
        except Refused:
            return False
        return True

    def _done(self, words: list[str], given: str) -> str:
        answer = self._ask(words, given)
        if answer["code"] == 0:
            return str(answer["out"])
        lines = str(answer.get("errors")).strip().splitlines() or ["no answer from the team's machine"]
        try:
            refusal = json.loads(lines[-1])["error"]
        except (ValueError, KeyError, TypeError):
            refusal = {"message": lines[0].removeprefix("pro0: ")}
        message, codes = str(refusal.get("message")), [code for code in ErrorCode if code == refusal.get("code")]
        kind = Refused if answer["code"] in (BadInput.exit_code, NotFound.exit_code, Refused.exit_code) else Pro0Error
        raise kind(message, code=codes[0] if codes else None)


class Typed:
    """The lines typed in the agent's terminal; each one means possible news."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """Return the terminal's descriptor."""
        return self._descriptor

    def drain(self) -> bool:
        """Discard the typed lines; return True when there were any."""
        with suppress(OSError):  # a terminal that is gone: its guard ends this process too
            return bool(select.select([self._descriptor], [], [], 0)[0] and os.read(self._descriptor, 4096))
        return False


class ShellAgentElsewhere:
    """Works as one member; `grace` is the seconds between TERM and KILL for a command."""

    def __init__(self, ask: Ask, agent_id: str, typed: Typed, grace: float) -> None:
        self._home, self._agent_id, self._typed, self._grace = HomeCommands(ask), agent_id, typed, grace
        self._agent_output = AgentOutput()
        self._agreed = self._owes_an_answer = False
        self._looking: threading.Thread | None = None
        self._why = ""
        """The reason of the last look at home to end the work, empty for none."""

    def work(self) -> int:
        """Work until an approved shutdown."""
        self._agent_output.say(f"{self._agent_id} is ready: waiting for tasks that carry a command")
        trouble, idle = "", False
        while True:
            try:
                self._read_mail(busy_with="")
                if self._agreed:
                    break
                if task := self._take():
                    trouble, idle = "", False
                    self._do(task)
                    continue
                if not idle:
                    self._agent_output.state(State.IDLE)
                trouble, idle = "", True
            except Pro0Error as error:
                if error.message != trouble:
                    self._agent_output.state(State.ERROR, note=error.message)
                    self._agent_output.say(error.message)
                trouble, idle = error.message, False
            select.select([self._typed], [], [], IDLE_LOOK)
            self._typed.drain()
        self._agent_output.say("shutting down, as agreed")
        return 0

    def _read_mail(self, busy_with: str) -> None:
        """Read all new mail; agree to a shutdown when free, and say "not yet" while working (behaviour 3.9)."""
        messages = [letter["message"] for letter in self._home.do("inbox")]
        for message in messages:
            self._agent_output.say(f"{message['from']} → {self._agent_id}: {message['content']}")
        self._owes_an_answer |= any(message["type"] == MessageType.SHUTDOWN_REQUEST for message in messages)
        if self._owes_an_answer:
            if busy_with:
                self._home.say("shutdown", "reject", f"working on {busy_with}")
            else:
                self._agreed = self._home.say("shutdown", "approve")
            self._owes_an_answer = False

    def _take(self) -> dict[str, Any] | None:
        """Claim a ready task that carries a command; tasks reserved for this member come first."""
        ready = [task for task in self._home.do("task", "ready") if task.get("run")]
        mine = [task for task in ready if task.get("assignee") in (None, "", self._agent_id)]
        for task in sorted(mine, key=lambda task: not task.get("assignee")):
            try:
                claimed: dict[str, Any] = self._home.do("task", "claim", task["id"])
            except Refused:  # another member was faster, or nobody may claim now
                continue
            return claimed
        return None

    def _do(self, task: dict[str, Any]) -> None:
        id = str(task["id"])
        self._agent_output.state(State.WORKING, id)
        self._agent_output.say(f"{id}: {task['title']}")
        tag = f"{task['claim']['incarnation']}:{id}:{task['epoch']}"  # unique, also among members of other teams
        command = Command(id, task["run"], task.get("parent") or "", task.get("timeout"), tag, self._grace)
        self._why = ""
        with carried_out(command, self._agent_output, self._typed, lambda: self._look(task), BUSY_LOOK) as ending:
            self._report(id, ending)

    def _look(self, task: dict[str, Any]) -> str:
        """Begin a look at home, perhaps out of reach; return the last look's reason to end the work, empty for none."""
        if self._looking is None or not self._looking.is_alive():
            self._looking = threading.Thread(target=self._look_home, args=(task,), daemon=True)
            self._looking.start()
        return self._why

    def _look_home(self, task: dict[str, Any]) -> None:
        try:
            self._read_mail(busy_with=task["id"])
            now = self._home.do("task", "show", task["id"])
            if (now.get("epoch"), now.get("claim")) != (task["epoch"], task["claim"]):
                self._why = TAKEN_AWAY
        except Refused as error:
            self._why = error.message
        except Pro0Error:
            pass  # the next look may succeed

    def _report(self, id: str, ending: Ending) -> None:
        """Report a task's outcome until it is stored: only this session can release its claim."""
        if self._looking:
            self._looking.join()
        failed = how(ending) if ending.why or ending.code else ""
        words, text = ("fail", failed) if failed else ("complete", ending.tail)
        while not self._why:
            try:
                done = self._home.do("task", words, id, "-", given=text)
                self._agent_output.say(f"{id} failed: {text}" if words == "fail" else f"{id} {done['status']}")
                return
            except Refused as error:
                if words == "complete" and error.code == ErrorCode.BLOCKED_BY_HOOK:
                    words, text = "fail", error.message
                    continue
                self._why = error.message
            except Pro0Error as error:
                self._agent_output.say(error.message)
                time.sleep(AGAIN)
        self._agent_output.say(f"{id} is no longer ours: {self._why}")
