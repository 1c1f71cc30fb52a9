"""The lead's decision over random histories: what may never happen, however members behave and leads are killed.

A small world stands for store, processes and mailboxes. A lead looks at it, decides, and does what was decided in the
order of `engine.apply`, or is killed somewhere in between. The next lead sees what is left of that.
"""

from collections import Counter
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from pro0.model.caller import THE_LEAD, Caller, Who
from pro0.model.decision import Action, Ask, End, Finish, Free, Snapshot, Start, Tell, Withdraw
from pro0.model.runtime import ENDED, Exit, Phase, Report, Runtime, State
from pro0.model.task import TaskList
from pro0.model.team import Answer, Seat, ShutdownWish, Wanted, Wish
from pro0.rules.lead.supervision import decide
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, Request
from tests.rules.building import T0, task
from tests.rules.supervising import AGENT, CONFIG, GUARD

NAMES = ("w1", "w2")
MEMBERS = st.sampled_from(NAMES)
TELLING = (Tell, Ask, Free, Withdraw)


class World(RuleBasedStateMachine):
    @initialize(agents=st.tuples(*[st.sampled_from(["shell", "shell", "command"])] * 2), up=st.booleans())
    def begin(self, agents: tuple[str, ...], up: bool) -> None:
        self.now = T0
        self.wanted = Wanted(seats=tuple(Seat(agent_id=n, name=n, agent=a) for n, a in zip(NAMES, agents, strict=True)))
        self.runtime = Runtime()
        self.tasks = TaskList(tasks=tuple(task(number, run="make") for number in range(1, 9)), next_id=9)
        self.reports: dict[str, Report] = {}
        self.opened: dict[str, str] = {}
        """Incarnations whose guard was started, with their member."""
        self.guards: set[str] = set()
        self.trees: set[str] = set()
        """Incarnations of which an agent, or something it left, lives."""
        self.started = Counter[tuple[str, int]]()
        self.mail: dict[str, tuple[str, str]] = {}
        self.over: set[str] = set()
        self.ids = 0
        self.stopped = False
        if up:
            self.lead(1000)
            self.guards_come_up()
            self.lead(1000)

    # What the lead does

    def look(self) -> Snapshot:
        alive = frozenset(i for i in self.guards if i in self.reports)
        known = {state.incarnation for state in self.runtime.seats}
        ended = {state.incarnation for state in self.runtime.seats if state.state in ENDED}
        late = {incarnation for incarnation in self.guards & ended if incarnation not in self.reports}
        return Snapshot(
            now=self.now,
            config=CONFIG,
            wanted=self.wanted,
            runtime=self.runtime,
            tasks=self.tasks,
            reports={i: report for i, report in self.reports.items() if i in known},
            guards_alive=alive & known,
            leftovers=frozenset((self.trees - self.guards) | late) & known,
            protocol=frozenset({"shell"}),
        )

    def new_id(self) -> str:
        self.ids += 1
        return f"inc-{self.ids}"

    def lead(self, steps: int) -> list[Action]:
        """One round of a lead that is killed after so many steps."""
        decision = decide(self.look(), self.new_id)
        self.stopped = self.stopped or any(isinstance(action, Finish) for action in decision.actions)
        for action in decision.actions:
            if isinstance(action, TELLING):
                if not steps:
                    return []
                steps -= 1
                self.tell(action)
        if not steps:
            return []
        self.runtime = decision.runtime
        for action in decision.actions:
            if isinstance(action, Start | End):
                steps -= 1
                if not steps:
                    return []
                self.touch(action)
        return list(decision.actions)

    def tell(self, action: Action) -> None:
        match action:
            case Tell(id=id, to=to, content=content):
                self.mail.setdefault(id, (to, content))
            case Ask(id=id, agent_id=to):
                self.mail.setdefault(id, (to, "please"))
            case Free(agent_id=agent_id, incarnation=incarnation, how=how):
                assert incarnation not in self.guards | self.trees, "freed only after a proved death"
                died = Request(act=Act.DIED, caller=THE_LEAD, now=self.now, text=how)
                self.tasks = changes.free(self.tasks, agent_id, incarnation, died)
            case Withdraw(request_id=id):
                if self.wanted.stop and self.wanted.stop.id == id:
                    self.wanted = replace(self.wanted, wish=Wish.RUN, stop=None)
                for seat in self.wanted.seats:
                    if seat.shutdown and seat.shutdown.id == id:
                        self.seat(replace(seat, shutdown=None, answer=None))

    def touch(self, action: Action) -> None:
        match action:
            case Start(seat=seat, incarnation=incarnation):
                living = [
                    i for i, name in self.opened.items() if name == seat.agent_id and i in self.guards | self.trees
                ]
                assert not living, "never a second session beside a living one"
                assert incarnation not in self.opened
                assert not self.started[seat.agent_id, seat.generation], "a generation is started once"
                self.started[seat.agent_id, seat.generation] += 1
                self.opened[incarnation] = seat.agent_id
                self.guards.add(incarnation)
            case End(incarnation=incarnation, firm=True):
                self.guards.discard(incarnation)
                self.trees.discard(incarnation)
            case End(incarnation=incarnation):
                if incarnation in self.guards and incarnation in self.reports:
                    self.report_the_end(incarnation, State.SHUTDOWN, signal=15)

    def report_the_end(
        self, incarnation: str, state: State, code: int | None = None, signal: int | None = None
    ) -> None:
        """A guard reports its agent's end; its tree may take longer."""
        if self.reports[incarnation].exit is None:
            how = Exit(at=self.now, code=code, signal=signal)
            self.reports[incarnation] = replace(self.reports[incarnation], state=state, since=self.now, exit=how)

    def seat(self, seat: Seat) -> None:
        seats = tuple(seat if old.agent_id == seat.agent_id else old for old in self.wanted.seats)
        self.wanted = replace(self.wanted, seats=seats)

    def wished(self, name: str) -> Seat:
        return next(seat for seat in self.wanted.seats if seat.agent_id == name)

    def living(self, name: str) -> str | None:
        """The incarnation of a member whose guard and agent live and count as alive."""
        for state in self.runtime.seats:
            up = state.incarnation in self.guards & self.trees and not self.reports[state.incarnation].exit
            if state.agent_id == name and state.state not in ENDED and up:
                return state.incarnation
        return None

    # What happens

    @rule()
    def the_lead_works(self) -> None:
        self.lead(1000)

    @rule(steps=st.integers(0, 6))
    def the_lead_is_killed(self, steps: int) -> None:
        self.lead(steps)

    @rule(seconds=st.sampled_from([0.1, 1.0, 3.0, 20.0, 70.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def guards_come_up(self) -> None:
        """But not once the team is stopped: a lead that was killed just then leaves that to the cleanup."""
        for incarnation in sorted(i for i in self.guards - set(self.reports) if self.comes_up(self.opened[i])):
            self.trees.add(incarnation)
            self.reports[incarnation] = Report(
                agent_id=self.opened[incarnation],
                incarnation=incarnation,
                guard=GUARD,
                agent=AGENT,
                state=State.IDLE if self.wished(self.opened[incarnation]).agent == "shell" else State.RUNNING,
                since=self.now,
            )

    def comes_up(self, _name: str) -> bool:
        return self.runtime.phase is not Phase.STOPPED

    @rule()
    def guards_end_after_their_trees(self) -> None:
        for incarnation in [i for i in self.guards if i in self.reports and self.reports[i].exit]:
            self.guards.discard(incarnation)
            self.trees.discard(incarnation)

    @rule(name=MEMBERS)
    def a_member_claims(self, name: str) -> None:
        incarnation = self.living(name)
        if incarnation and self.wanted.wish is Wish.RUN and (free := [t for t in self.tasks.tasks if not t.claim]):
            caller = Caller(Who.MEMBER, name, incarnation)
            request = Request(act=Act.CLAIM, caller=caller, now=self.now)
            if free[0].status == "pending" and free[0].assignee is None:
                self.tasks, _ = changes.act(self.tasks, free[0].id, request)
                self.says(incarnation, State.WORKING)

    @rule(name=MEMBERS)
    def a_member_turns_idle(self, name: str) -> None:
        if incarnation := self.living(name):
            self.says(incarnation, State.IDLE)

    def says(self, incarnation: str, state: State) -> None:
        if self.reports[incarnation].state is not state:
            self.reports[incarnation] = replace(self.reports[incarnation], state=state, since=self.now)

    @rule(name=MEMBERS, code=st.sampled_from([0, 1]))
    def an_agent_ends(self, name: str, code: int) -> None:
        if incarnation := self.living(name):
            self.report_the_end(incarnation, State.CRASHED if code else State.EXITED, code=code)

    @rule(name=MEMBERS, left=st.booleans())
    def a_guard_is_killed(self, name: str, left: bool) -> None:
        for incarnation in sorted(i for i in self.guards if self.opened[i] == name):
            self.guards.discard(incarnation)
            if not left:
                self.trees.discard(incarnation)

    @rule(name=MEMBERS)
    def a_restart_is_wanted(self, name: str) -> None:
        ended = any(s.agent_id == name and s.state in ENDED for s in self.runtime.seats)
        if ended and self.wanted.wish is Wish.RUN:
            state = next(s for s in self.runtime.seats if s.agent_id == name)
            self.seat(replace(self.wished(name), generation=state.generation + 1, shutdown=None, answer=None))

    @rule(name=MEMBERS, force=st.booleans())
    def a_shutdown_is_wanted(self, name: str, force: bool) -> None:
        if self.living(name):
            self.seat(replace(self.wished(name), shutdown=self.wish(force), answer=None))

    @rule(force=st.booleans())
    def a_stop_is_wanted(self, force: bool) -> None:
        self.wanted = replace(self.wanted, wish=Wish.STOP, stop=self.wish(force))

    def wish(self, force: bool) -> ShutdownWish:
        self.ids += 1
        return ShutdownWish(id=f"wish-{self.ids}", by="human", at=self.now, timeout=60, force=force)

    @rule(name=MEMBERS, approve=st.booleans())
    def a_member_answers(self, name: str, approve: bool) -> None:
        seat, incarnation = self.wished(name), self.living(name)
        wish = self.wanted.stop or seat.shutdown
        if incarnation and wish:
            self.seat(replace(seat, answer=Answer(wish.id, incarnation, approve, self.now, "busy")))

    # What must hold

    @invariant()
    def the_ended_stay_ended(self) -> None:
        for state in self.runtime.seats:
            assert state.state in ENDED or state.incarnation not in self.over
            if state.state in ENDED:
                self.over.add(state.incarnation)

    @invariant()
    def an_end_is_told_once(self) -> None:
        told = Counter(id.partition(":")[0] for id in self.mail if ":ended:" in id)
        assert not [id for id, number in told.items() if number > 1]

    @invariant()
    def a_request_is_made_once(self) -> None:
        """Once for each time of asking: the first, and one after each "not yet"."""
        first = Counter(id for id in self.mail if id.startswith("wish-") and id.count(":") == 1)
        assert all(number == 1 for number in first.values())

    @invariant()
    def stopped_means_that_nothing_lives(self) -> None:
        if self.runtime.phase is Phase.STOPPED and self.wanted.wish is Wish.STOP:
            known = {i for i in self.guards if i in self.reports} | self.trees
            assert not known
            assert not [t for t in self.tasks.tasks if t.claim]

    @precondition(lambda self: not self.stopped)
    @rule()
    def a_lead_comes_to_rest(self) -> None:
        """A decision that changes nothing does nothing: no notice, question or start is repeated."""
        for _ in range(12):
            before = self.runtime
            actions = self.lead(1000)
            if self.runtime == before and set(actions) <= {Finish()}:
                break
        else:
            raise AssertionError(f"still at it: {actions}")
        assert set(self.lead(1000)) <= {Finish()}

    def teardown(self) -> None:
        """Whatever happened, a forced stop comes to its end."""
        if not hasattr(self, "now"):
            return
        self.a_stop_is_wanted(force=True)
        for _ in range(20):
            self.guards_come_up()
            self.guards_end_after_their_trees()
            self.lead(1000)
            self.now += timedelta(seconds=20)
        assert self.runtime.phase is Phase.STOPPED, self.runtime
        self.stopped_means_that_nothing_lives()


World.TestCase.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
test_histories = World.TestCase


def test_no_restart_beside_a_guard_that_comes_late() -> None:
    """A lead gives a session up that never came up, and dies before it ends it; the member is restarted meanwhile."""
    world = World()
    world.begin(agents=("shell", "shell"), up=False)
    world.the_lead_is_killed(2)
    world.time_passes(20)
    world.the_lead_is_killed(3)
    world.a_restart_is_wanted("w1")
    world.the_lead_is_killed(2)
    world.teardown()
