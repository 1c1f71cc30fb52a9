"""The lead's decision over random histories of a team that two machines share: a world with a lead on each.

Issue 19, build 5. What may never happen with one lead may not happen with two, whoever of them is killed or away, and
whoever has the duties. Readers see their records as one.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from msgspec.structs import replace

from pro0.model.decision import Action, Ask, Dismiss, End, Free, Snapshot, Start, Tell
from pro0.model.runtime import Phase, Runtime
from pro0.model.team import Wish
from pro0.store.database.sharing import whole
from tests.rules.test_supervision_histories import World

MACHINES = ("", "two")
OF = {"w1": "", "w2": "two"}


class SharedWorld(World):
    def __init__(self) -> None:
        self.records = dict.fromkeys(MACHINES, Runtime())
        self.acts: str | None = None
        """The machine whose lead acts at this moment."""
        self.leading: tuple[str, ...] = MACHINES
        self.duties = ""
        super().__init__()

    @property
    def runtime(self) -> Runtime:
        """What the lead at work has recorded; else what readers see."""
        if self.acts is not None:
            return self.records[self.acts]
        return whole(self.records[""], {"two": self.records["two"]}, {"two"})

    @runtime.setter
    def runtime(self, record: Runtime) -> None:
        self.records[self.acts or ""] = record

    @initialize(agents=st.tuples(*[st.sampled_from(["shell", "shell", "command"])] * 2), up=st.booleans())
    def begin(self, agents: tuple[str, ...], up: bool) -> None:
        super().begin(agents=agents, up=False)
        self.wanted = replace(
            self.wanted, seats=tuple(replace(seat, machine=OF[seat.agent_id]) for seat in self.wanted.seats)
        )
        if up:
            self.lead(1000)
            self.guards_come_up()
            self.lead(1000)

    def look(self) -> Snapshot:
        assert self.acts is not None
        others = self.records["two" if self.acts == "" else ""]
        return replace(super().look(), machine=self.acts, has_duties=self.acts == self.duties, others=others)

    def lead(self, steps: int) -> list[Action]:
        """One round of each lead that is there, each killed after so many steps."""
        actions = []
        for machine in self.leading:
            self.acts = machine
            actions += super().lead(steps)
        self.acts = None
        return actions

    def tell(self, action: Action) -> None:
        if isinstance(action, Free | Ask | Dismiss):
            assert OF[action.agent_id] == self.acts
        if isinstance(action, Tell) and action.id.partition(":")[0] in self.opened:
            assert OF[self.opened[action.id.partition(":")[0]]] == self.acts
        super().tell(action)

    def touch(self, action: Action) -> None:
        if isinstance(action, Start | End):
            assert OF[action.seat.agent_id if isinstance(action, Start) else action.agent_id] == self.acts
        super().touch(action)

    def comes_up(self, name: str) -> bool:
        return self.records[OF[name]].phase is not Phase.STOPPED

    @rule(leading=st.sampled_from([MACHINES, ("",), ("two",)]))
    def a_machine_goes_or_comes_back(self, leading: tuple[str, ...]) -> None:
        self.leading = leading
        if self.duties not in leading:
            self.duties = leading[0]

    @rule()
    def the_other_lead_gets_the_duties(self) -> None:
        self.duties = self.leading[-1]

    @invariant()
    def each_lead_records_its_own(self) -> None:
        for machine, record in self.records.items():
            assert {OF[state.agent_id] for state in record.seats} <= {machine}

    @invariant()
    def who_has_stopped_has_nobody_left(self) -> None:
        """Of each machine; the others may still be at it."""
        for machine, record in self.records.items():
            if record.phase is Phase.STOPPED and self.wanted.wish is Wish.STOP:
                alive = {i for i in self.guards if i in self.reports} | self.trees
                assert not [incarnation for incarnation in alive if OF[self.opened[incarnation]] == machine]
                assert not [t for t in self.tasks.tasks if t.claim and OF[t.claim.agent_id] == machine]

    def teardown(self) -> None:
        self.leading = MACHINES
        super().teardown()


SharedWorld.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_histories = SharedWorld.TestCase
