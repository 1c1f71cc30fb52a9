"""Random operations of random callers, beside a model of the rules: no difference (issue 6, must show 7)."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pro0.decoding import decoder
from pro0.errors import Pro0Error
from pro0.model.caller import THE_HUMAN, THE_LEAD
from pro0.model.task import Awaiting, Draft, Gate, Kind, Policy, Status, TaskList
from pro0.rules.tasks import changes, editing, making
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import Board, why_not_ready
from pro0.rules.tasks.subtasks import waits_for_subtasks
from pro0.store.files import encode
from tests.rules import model_acts
from tests.rules.building import LEAD_AGENT, T0, W1, W2, ask, at
from tests.rules.model import CYCLES, Item, Model, mail

CALLERS = {"human": THE_HUMAN, "lead": THE_LEAD, "lead agent": LEAD_AGENT, "w1": W1, "w2": W2}
SESSIONS = {"w1": W1, "w2": W2}
ENDED = (Status.COMPLETED, Status.CANCELLED)
Choose = Callable[[list[Any]], Any]
NUMBERS = st.integers(1, 9)
MOST = 9
SUITS = {
    "pending": ["claim", "start", "claim", "start", "wish", "hold", "cancel"],
    "working": ["complete", "complete", "complete", "fail", "hand_off", "release", "release", "undo_start"],
    "awaiting": ["approve", "reject", "clear", "continue", "close", "hold"],
    "done": ["start", "wish", "start"],
    "failed": ["retry", "continue", "close", "reopen"],
    "completed": ["reopen"],
    "cancelled": ["reopen"],
}
BY = {"claim": ["w1", "w2", "human"], "start": ["lead"] * 4, "undo_start": ["lead"] * 4, "complete": ["w1", "w2"]}
"""Who does it as a rule, besides whoever holds the task; else a human."""


class Rules(RuleBasedStateMachine):
    """The rules and the model, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks = TaskList()
        self.model = Model()
        self.seconds = 0.0
        self.new_id = map("n{}".format, count(1)).__next__

    @initialize(policy=st.sampled_from(["supervised", "supervised", None, "dispatch"]))
    def begin(self, policy: str | None) -> None:
        """A tree with a group in it, and one task beside it."""
        shapes = [(None, False, policy), (1, False, None), (1, False, None), (1, True, None), (4, False, None)]
        for parent, epic, own in [*shapes, (None, False, None)]:
            self.make("human", Item(parent=parent, epic=epic, policy=own))

    def tick(self) -> None:
        self.seconds += 1

    @rule(
        who=st.sampled_from(["human", "human", "lead agent", "w1", "w2"]),
        parent=st.none() | NUMBERS,
        deps=st.sets(NUMBERS, max_size=1),
        epic=st.sampled_from([False, False, True]),
        policy=st.sampled_from([None, None, "pool", "supervised", "supervised", "dispatch"]),
        requires=st.sampled_from([None, None, None, *map(str, Gate)]),
        waits=st.sampled_from([None] * 6 + [str(kind) for kind in Awaiting]),
        run=st.sampled_from([False, False, False, True]),
        assignee=st.sampled_from([None, None, *SESSIONS]),
    )
    def create(
        self,
        who: str,
        parent: int | None,
        deps: set[int],
        epic: bool,
        policy: str | None,
        requires: str | None,
        waits: str | None,
        run: bool,
        assignee: str | None,
    ) -> None:
        if self.model.next > MOST:
            return
        self.tick()
        unagreed = run and who != "human"
        item = Item(parent, deps, epic, policy, requires, waits="escalation" if unagreed else waits, unagreed=unagreed)
        item.assignee = assignee
        self.make(who, item, waits=waits, run=run)

    def make(self, who: str, item: Item, *, waits: str | None = None, run: bool = False) -> None:
        draft = Draft(
            title="t",
            parent=str(item.parent) if item.parent else None,
            blocked_by=tuple(map(str, item.deps)),
            type=Kind.EPIC if item.epic else Kind.TASK,
            policy=Policy(item.policy) if item.policy else None,
            requires=Gate(item.requires) if item.requires else None,
            awaiting=Awaiting(waits) if waits else None,
            run="make" if run else None,
            assignee=item.assignee,
        )
        try:
            self.tasks, _ = making.create(self.tasks, [draft], CALLERS[who], T0, self.new_id)
            allowed = True
        except Pro0Error:
            allowed = False
        assert model_acts.create(self.model, item, who) == allowed

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        self.one_act(lambda choices: data.draw(st.sampled_from(choices)))

    @rule(seed=st.integers(0, 2**32))
    def walk(self, seed: int) -> None:
        """Many acts in a row: what comes late in the life of a tree is not reached one by one."""
        chance = random.Random(seed)
        for _ in range(40):
            self.one_act(chance.choice)
            self.no_difference()

    def one_act(self, choose: Choose) -> None:
        """One act: most often one that suits the task, by whom it suits; else any, by anybody."""
        self.tick()
        items = self.model.items
        moving = [n for n, item in items.items() if self.model.ready(n) or (item.open and item.phase != "pending")]
        number = choose([*moving * 3, *items] or [1])
        item = items.get(number, Item())
        verb = choose(SUITS[item.phase] * 6 + list(model_acts.VERBS))
        who = choose([item.holder or "w1", *BY.get(verb, ["human"])] * 3 + list(CALLERS))
        kind, session = choose(list(Awaiting)), choose(list(SESSIONS))
        if verb != "complete" or not self._repeats(number, who):
            self.do(verb, number, who, kind, session)

    def do(self, verb: str, number: int, who: str, kind: Awaiting, session: str) -> None:
        holder = SESSIONS[session] if verb in ("start", "continue") else None
        request = ask(Act(verb), CALLERS[who], "said", at(self.seconds), kind=kind, holder=holder, cycles=CYCLES)
        try:
            self.tasks, _ = changes.act(self.tasks, f"task-{number}", request)
            allowed = True
        except Pro0Error:
            allowed = False
        assert model_acts.act(self.model, verb, number, who, kind=str(kind), session=session) == allowed, (verb, who)

    def _repeats(self, number: int, who: str) -> bool:
        """Whether this would be a completion that was told already, which test_lifecycle sees to (rulings 2.11)."""
        item = self.model.items.get(number)
        return item is not None and not (item.status == "in_progress" and not item.waits) and who != "lead"

    @rule(session=st.sampled_from(list(SESSIONS)))
    def died(self, session: str) -> None:
        self.tick()
        caller = SESSIONS[session]
        request = ask(Act.DIED, THE_LEAD, "crashed", at(self.seconds))
        self.tasks = changes.free(self.tasks, caller.agent_id, caller.incarnation, request)
        model_acts.died(self.model, session)

    @rule(number=NUMBERS, who=st.sampled_from(["human", "lead agent"]), force=st.booleans())
    def delete(self, number: int, who: str, force: bool) -> None:
        self.tick()
        try:
            self.tasks = editing.delete(self.tasks, f"task-{number}", CALLERS[who], force=force, now=at(self.seconds))
            allowed = True
        except Pro0Error:
            allowed = False
        assert model_acts.delete(self.model, number, who, force=force) == allowed

    @invariant()
    def no_difference(self) -> None:
        board = Board(self.tasks.tasks)
        real = {
            task.id: (
                task.status.value,
                task.waits.kind.value if task.waits else None,
                task.claim.agent_id if task.claim else None,
                task.assignee,
                task.policy.value if task.policy else None,
                task.start is not None,
                why_not_ready(board, task) is None,
            )
            for task in board
        }
        modelled = {
            f"task-{n}": (
                item.status,
                item.waits if item.open else None,
                mail(item.holder) if item.holder else None,
                mail(item.assignee) if item.assignee else None,
                item.policy,
                item.wish,
                self.model.ready(n),
            )
            for n, item in self.model.items.items()
        }
        assert real == modelled

    @invariant()
    def nobody_waits_for_nothing(self) -> None:
        """A parent whose session waits has something below it whose end wakes that session (rulings 2.4)."""
        board = Board(self.tasks.tasks)
        for parent in board:
            if parent.claim and waits_for_subtasks(board, parent):
                awaited = [board.get(id) for id in parent.waits_for]
                assert awaited, parent.id
                assert all(task and task.status not in ENDED for task in awaited)

    @invariant()
    def read_alike(self) -> None:
        """Whoever reads it finds what its writer, who does not read it again, goes on with."""
        assert decoder(TaskList).decode(encode(self.tasks)) == self.tasks

    @invariant()
    def told_alike(self) -> None:
        """What ends a batch is told to the person beside it; test_finishing.py has its rule."""
        told = Counter(notice.to for notice in self.tasks.outbox if not notice.id.endswith(":all done"))
        assert told == self.model.told
        ids = [(notice.id, notice.to) for notice in self.tasks.outbox]
        assert len(set(ids)) == len(ids)


TestRules = Rules.TestCase
TestRules.settings = settings(max_examples=100, stateful_step_count=20, deadline=None)
