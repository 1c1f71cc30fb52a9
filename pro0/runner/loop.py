"""The loop of a run: choose, run, signal, repeat; it never waits for a human (behaviour 2.21)."""

from msgspec.structs import replace

from pro0.agent_output import AgentOutput
from pro0.config import Settings
from pro0.errors import ErrorCode, NotFound, Pro0Error, Refused
from pro0.model.run import RunOptions
from pro0.model.runtime import State
from pro0.model.task import Task
from pro0.ops.context import Context, require_living, zone
from pro0.ops.tasks import gates, tasks
from pro0.ops.work import claims, runs
from pro0.ops.work.claims import NOT_NOW, OVER
from pro0.rules.runs import run_limits
from pro0.rules.runs.judging import TurnStep, denied, judge, too_many
from pro0.rules.runs.running import Course, Rest, RunEnd, Take, budget, choose, epic_of, has_open_tasks
from pro0.rules.runs.turn_prompt import prompt
from pro0.rules.screens.rate_limits import named_zone
from pro0.rules.tasks.acts import Act
from pro0.rules.text import within
from pro0.runner.account import Account
from pro0.runner.orders import Orders
from pro0.runner.tell import Teller
from pro0.runner.turns import Ran, Turns

INTERRUPTED = 130
SHORTEST = 0.05
"""The seconds of the shortest wait, so that a run never reads the disk without a pause."""


class Runner:
    """One run, as one member."""

    def __init__(self, context: Context, options: RunOptions, settings: Settings) -> None:
        self._context = context
        self._options = options
        self._agent_output = AgentOutput()
        self._teller = Teller(context, self._agent_output)
        self._orders = Orders(context, options.client, self._agent_output)
        self._turns = Turns(context, options, settings, self._agent_output)
        self._account = Account(context, options.agent)
        self._course = Course()
        self._reached: dict[tuple[str, int], tuple[int, str]] = {}
        """By task and claim: the next turn's number and the last turn's end; both survive an error between turns."""
        self._watch = claims.changes(context)

    def work(self) -> int:
        """Run tasks until the run is over; return its exit code."""
        try:
            with self._orders.listening():
                self._teller.tell("begin", self._headline())
                end = self._go_round()
                self._let_know(end)
                self._teller.tell("over", end.why, code=end.code)
                return end.code
        finally:
            self._watch.close()

    def _let_know(self, end: RunEnd) -> None:
        """Tell the team when a run failed, got stuck or met a limit: its starter may be far away."""
        try:
            if end.code == 1 or self._is_out_of_time(end):
                runs.stopped(self._context, end.why)
        except Pro0Error as error:
            self._teller.tell("note", error.message)

    def _is_out_of_time(self, end: RunEnd) -> bool:
        """Return True when an `auto` run has ended well with tasks left."""
        well = end.code == 0 and self._options.auto and not self._orders.agreed
        return well and has_open_tasks(tasks.board(self._context), self._options)

    def _go_round(self) -> RunEnd:
        while True:
            try:
                if end := self._step():
                    return end
            except Pro0Error as error:
                if error.code in OVER or (isinstance(error, NotFound) and not self._context.team.exists()):
                    return RunEnd(1, error.message)
                self._rest(Rest(None, error.message), State.ERROR)

    def _step(self) -> RunEnd | None:
        """Work on a task or rest; return the end of the run when it is over."""
        if why := self._orders.why_to_end(busy_with=None):
            return RunEnd(0 if self._orders.agreed else INTERRUPTED, why)
        board, now = tasks.board(self._context), self._context.now()
        living = runs.living(self._context)
        choice = choose(board, self._options, self._context.caller, self._course, now, living)
        decision = run_limits.held(choice, self._options, self._course, runs.limits(self._context), now)
        if isinstance(decision, RunEnd):
            return decision
        if isinstance(decision, Rest):
            self._course = replace(self._course, idle_since=self._course.idle_since or now)
            self._rest(decision, State.IDLE)
            return None
        return self._take(decision)

    def _rest(self, rest: Rest, state: State) -> None:
        self._agent_output.state(state, note=rest.why if state is State.ERROR else "")
        self._teller.once("idle", rest.why)
        seconds = (rest.until - self._context.now()).total_seconds() if rest.until else self._options.poll
        self._orders.wait(self._watch, min(max(seconds, 0.0), max(self._options.poll, SHORTEST)))

    def _take(self, take: Take) -> RunEnd | None:
        """Claim a task, unless somebody was faster, and run its turns."""
        task = take.task
        if not task.claim:
            try:
                task = tasks.claim(self._context, task.id)
            except Refused as error:
                if error.code in (*NOT_NOW, *OVER):
                    raise
                return None
        epic = epic_of(tasks.board(self._context), task)
        self._course = replace(self._course, idle_since=None, epic=epic.id if epic else None)
        return self._run(task, epic)

    def _run(self, task: Task, epic: Task | None) -> RunEnd | None:
        """Run turns on a claimed task until its claim ends; return the end of the run when it is over."""
        self._agent_output.state(State.WORKING, task.id)
        number, previous_end = self._reached.get((task.id, task.epoch), (1, ""))
        while True:
            require_living(self._context)  # an ended session keeps its claim until its processes are gone
            self._teller.tell("turn", task.title, task.id, number)
            text = prompt(task, epic, tasks.remarks(self._context, task.id), number, previous_end)
            ran = self._turns.run(task, text, number, self._watch, lambda: self._look(task))
            self._account.add(task.id, ran)
            self._course = replace(self._course, spent=self._account.spent)
            self._teller.spent, self._teller.unpriced = self._account.told, self._account.unpriced
            step = self._follow(task, text, ran)
            if step is None or step.act or step.end:
                return step.end if step else None
            number, previous_end = number + 1, step.text
            self._reached = {(task.id, task.epoch): (number, previous_end)}

    def _look(self, task: Task) -> str:
        """Return the reason to cut a turn short, empty for none."""
        if why := self._orders.why_to_end(busy_with=task):
            return why
        try:
            return "" if claims.holds(self._context, task) else claims.TAKEN_AWAY
        except NotFound as error:
            return error.message
        except Pro0Error as error:
            return error.message if error.code in OVER else ""

    def _follow(self, task: Task, text: str, ran: Ran) -> TurnStep | None:
        """Act on a finished turn and return the step; None when the claim has ended already.

        The agent itself, or somebody else, may have ended the claim.
        """
        if not self._is_ours(task):
            self._course = replace(self._course, failures=0)
            self._teller.tell("end", self._state_of(task), task.id)
            return None
        step = self._interrupted(ran) or judge(ran.turn, self._options, task, text)
        end = step.end or too_many(self._course, step)
        self._course = replace(self._course, failures=self._course.failures + 1 if step.failed else 0)
        self._course = run_limits.counted(
            self._course, self._options, step, self._context.now(), zone(named_zone(step.text))
        )
        if step.warning:
            self._teller.tell("note", step.warning, task.id)
        # A check refused the result: give the agent the reason, or fail the task.
        if why := self._act(task, step):
            self._teller.tell("note", why, task.id)
            step = denied(ran.turn, self._options, task, why)
            end = step.end
            self._act(task, step)
        if step.act is None and (end := budget(self._options, self._account.spent)):
            self._act(task, TurnStep(Act.RELEASE, end.why))
        return replace(step, end=end)

    def _is_ours(self, task: Task) -> bool:
        """Return True while the claim holds; ask until the store answers: a finished turn is judged only once.

        Raises the store's error when the run has to end first.
        """
        while True:
            try:
                return claims.holds(self._context, task)
            except NotFound:
                return False
            except Pro0Error as error:
                if error.code in OVER:
                    raise
                self._teller.once("note", error.message)
                self._orders.wait(self._watch, max(self._options.poll, SHORTEST))
                if self._orders.why_to_end(busy_with=task):
                    raise

    def _interrupted(self, ran: Ran) -> TurnStep | None:
        if not ran.why:
            return None
        return TurnStep(Act.RELEASE, ran.why, end=RunEnd(INTERRUPTED, ran.why))

    def _act(self, task: Task, step: TurnStep) -> str:
        """Act on a task, retrying until it succeeds: nobody else can act while this session lives.

        Returns the reason when a check blocks the act, empty otherwise.
        """
        step = replace(step, text=within(step.text))  # too long a text would be refused every time
        while step.act:
            try:
                self._carry_out(task.id, step)
                how = self._state_of(task)
                self._teller.tell("end", f"{how}: {step.text}" if step.text else how, task.id)
                return ""
            except (Refused, NotFound) as error:
                if error.code == ErrorCode.BLOCKED_BY_HOOK:
                    return error.message
                self._teller.tell("note", f"the task is no longer ours: {error.message}", task.id)
                return ""
            except Pro0Error as error:
                self._teller.once("note", error.message)
            self._orders.wait(self._watch, max(self._options.poll, SHORTEST))
            if self._look(task):
                break
        return ""

    def _carry_out(self, id: str, step: TurnStep) -> None:
        if step.act is Act.HAND_OFF:
            gates.hand_off(self._context, id, step.kind, step.text)
        else:
            _ACTS[step.act or Act.RELEASE](self._context, id, step.text)

    def _state_of(self, task: Task) -> str:
        try:
            now = tasks.show(self._context, task.id)
        except Pro0Error:
            return "gone"
        return f"awaiting {now.waits.kind}" if now.waits else now.status.words

    def _headline(self) -> str:
        *groups, end = ["the epics", *["single tasks"] * self._options.standalone, *["orphans"] * self._options.orphans]
        where = self._options.epic or f"{', '.join(groups)}{' and ' * bool(groups)}{end} of the team"
        return f"running {where} with {' '.join(self._options.program) or self._options.agent}"


_ACTS = {Act.COMPLETE: tasks.complete, Act.FAIL: tasks.fail, Act.RELEASE: tasks.release}
