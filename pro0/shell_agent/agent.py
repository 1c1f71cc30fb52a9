"""The shell agent's loop: read mail, take a task, run it, report the outcome; else wait for a change."""

import os
import selectors
import time
from contextlib import closing

from pro0.agent_output import AgentOutput
from pro0.children import Ending
from pro0.errors import ErrorCode, NotFound, Pro0Error, Refused
from pro0.model.runtime import State
from pro0.model.task import Status, Task
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team.mail_reader import MailReader
from pro0.ops.work import claims
from pro0.ops.work.claims import NOT_NOW, OVER
from pro0.shell_agent.command import Command, carried_out, how
from pro0.store.watch import Watch


def _has_folder() -> bool:
    try:
        return bool(os.getcwd())  # noqa: PTH109 - pathlib asks the same, and loads more
    except FileNotFoundError:
        return False
    except OSError:
        return True


class ShellAgent:
    """Works as one member; `poll` is the seconds between two looks without a change.

    A session for its `own` task does only this task. It runs the command once in each claim. After each subtask it
    completes the task again, since it cannot review anything.
    """

    def __init__(self, context: Context, poll: float, grace: float, own_task: str | None = None) -> None:
        self._context = context
        self._poll = poll
        self._grace = grace
        self._agent_output = AgentOutput()
        self._mail = MailReader(context, self._agent_output.say)
        self._own = own_task
        self._ran = 0
        """The epoch of the last claim of its own task for which the command was run."""
        self._trouble = ""

    def work(self) -> int:
        """Work until an approved shutdown or a missing team (0), or until this session cannot go on (1).

        It cannot when it counts as over, and when its folder was removed: no command could run there.
        """
        paths = self._context.team.require().paths
        purpose = self._own or "waiting for tasks that carry a command"
        self._agent_output.say(f"{self._context.caller.agent_id} is ready: {purpose}")
        idle = False
        with closing(claims.changes(self._context)) as watch, selectors.DefaultSelector() as selector:
            selector.register(watch, selectors.EVENT_READ)
            while not self._mail.agreed:
                if not _has_folder():
                    self._agent_output.say("its folder was removed, so it takes no task: restart it")
                    return 1
                try:
                    idle = self._turn(watch, idle)
                except Pro0Error as error:
                    if isinstance(error, NotFound) and not self._context.team.exists():
                        self._agent_output.say(f"the team {paths.name} is gone")
                        return 0
                    self._complain(error)
                    if error.code in OVER:
                        return 1
                    idle = False
                    watch.drain()
                    selector.select(self._poll)
                if idle and not self._mail.agreed:
                    selector.select(self._poll)
                    watch.drain()
        self._agent_output.say("shutting down, as agreed")
        return 0

    def _turn(self, watch: Watch, idle: bool) -> bool:
        """Read the mail and do one task; return True when there is nothing to do, and report this only once."""
        self._mail.read(busy_with=None)
        if self._mail.agreed:
            return idle
        task = self._take()
        self._trouble = ""
        if task is None:
            if not idle:
                self._agent_output.state(State.IDLE)
            return True
        self._do(task, watch)
        return False

    def _take(self) -> Task | None:
        if self._own:
            task = tasks.show(self._context, self._own)
            return task if task.status is Status.IN_PROGRESS and self._holds(task) else None
        try:
            return tasks.take(self._context, runnable=True)
        except Pro0Error as error:
            if error.code in NOT_NOW:
                return None
            raise

    def _do(self, task: Task, watch: Watch) -> None:
        self._agent_output.state(State.WORKING, task.id)
        self._agent_output.say(f"{task.id}: {task.title}")
        if self._own and (not task.run or self._ran == task.epoch):
            self._go_by(task)
            return
        self._ran = task.epoch
        tag = f"{self._context.caller.incarnation}:{task.id}:{task.epoch}"
        command = Command(task.id, task.run or "", task.parent or "", task.timeout, tag, self._grace)
        with carried_out(command, self._agent_output, watch, lambda: self._look(task), self._poll) as ending:
            self._report(task, ending)

    def _go_by(self, task: Task) -> None:
        """Complete a task with no command left to run; fail one with neither a command nor subtasks."""
        try:
            if task.run or tasks.board(self._context).children(task.id):
                self._complete(task, "")
            else:
                tasks.fail(self._context, task.id, "it has no command, and the shell agent only runs commands")
        except (Refused, NotFound) as error:
            self._agent_output.say(error.message)

    def _holds(self, task: Task) -> bool:
        return task.claim is not None and task.claim.incarnation == self._context.caller.incarnation

    def _look(self, task: Task) -> str:
        """Answer mail while working; return the reason to end the work now, empty for none."""
        try:
            self._mail.read(busy_with=task)
            return "" if claims.holds(self._context, task) else claims.TAKEN_AWAY
        except NotFound as error:
            return error.message
        except Pro0Error as error:
            self._complain(error)
            return error.message if error.code in OVER else ""

    def _report(self, task: Task, ending: Ending) -> None:
        """Report a task's outcome, retrying until it is stored: only this session can release its claim."""
        while True:
            try:
                self._settle(task, ending)
                return
            except (Refused, NotFound) as error:
                self._agent_output.say(f"{task.id} is no longer ours: {error.message}")
                return
            except Pro0Error as error:
                self._complain(error)
            time.sleep(self._poll)
            if self._look(task):
                return

    def _settle(self, task: Task, ending: Ending) -> None:
        if ending.why or ending.code:
            self._fail(task, ending)
        else:
            self._complete(task, ending.tail)

    def _complete(self, task: Task, result: str) -> None:
        """Complete a task, or fail it when a hook blocks it, since a command cannot fix it."""
        try:
            done = tasks.complete(self._context, task.id, result)
            held = done.waits
            self._agent_output.say(f"{task.id} is done, waits for {held.kind}" if held else f"{task.id} {done.status}")
        except Refused as error:
            if error.code != ErrorCode.BLOCKED_BY_HOOK:
                raise
            tasks.fail(self._context, task.id, error.message)
            self._agent_output.say(f"{task.id} failed: {error.message}")

    def _complain(self, error: Pro0Error) -> None:
        """Report an error once, in the pane and in the state."""
        if error.message != self._trouble:
            self._trouble = error.message
            self._agent_output.state(State.ERROR, note=error.message)
            self._agent_output.say(error.message)

    def _fail(self, task: Task, ending: Ending) -> None:
        why = how(ending)
        tasks.fail(self._context, task.id, why)
        self._agent_output.say(f"{task.id} failed: {why}")
