"""What is refused about plans, permissions, agents and layouts, in these words (rulings 3.17, 4)."""

from typing import Any

import pytest
from msgspec.structs import replace

from pro0.model.agent import DRAWN
from pro0.model.caller import THE_HUMAN
from pro0.model.team import PLAN_LIMIT, PermissionMode, PlanGate, Seat, Verdict, Wanted
from pro0.rules.definitions import GIVEN, definitions
from pro0.rules.layouts import layout_of
from pro0.rules.lead import plan_approval
from pro0.rules.lead.permissions import within
from tests.rules.building import LEAD_AGENT, at
from tests.rules.refusing import Case, refused
from tests.rules.supervising import CONFIG, seat

FRESH = seat(gate=PlanGate())
HANDED = plan_approval.handed_in(FRESH, "first this", "inc-w1", at(1))
assert HANDED.gate
EDITED = replace(HANDED, gate=replace(HANDED.gate, text="first that"))


def decide(of: Seat, verdict: Verdict = "approved", about: str | None = None, session: str = "inc-w1") -> Seat:
    return plan_approval.decided(of, verdict, THE_HUMAN, at(3), incarnation=session, about=about)


APPROVED = decide(HANDED)
LOOK = "look again: pro0 member show w1"
PLANS: dict[str, Case] = {
    "nobody asks for one": (
        lambda: plan_approval.handed_in(seat(), "x", "i", at(1)), 4, "no_plan_required",
        "nobody has asked w1 for a plan", "go on without one",
    ),
    "approved already": (
        lambda: plan_approval.handed_in(APPROVED, "x", "i", at(1)), 4, "decided",
        "the plan of w1 is approved already", "go on with it",
    ),
    "an empty one": (
        lambda: plan_approval.handed_in(FRESH, " \n", "i", at(1)), 2, "bad_input", "a plan needs a text",
        'pro0 plan "first this, then that"',
    ),
    "a long one": (
        lambda: plan_approval.handed_in(FRESH, "x" * (PLAN_LIMIT + 1), "i", at(1)), 2, "bad_input",
        f"the plan has {PLAN_LIMIT + 1} bytes, more than {PLAN_LIMIT}", "put it in a file and name the file",
    ),
    "none is needed": (lambda: decide(seat()), 4, "no_plan_required", "w1 needs no approval of a plan", None),
    "none yet": (
        lambda: decide(FRESH), 4, "no_plan", "w1 has not handed in a plan yet", "look: pro0 member show w1"
    ),
    "another one": (
        lambda: decide(HANDED, about="0123"), 4, "stale_plan", "0123 is not the plan that w1 has handed in last", LOOK
    ),
    "a second verdict": (
        lambda: decide(APPROVED), 4, "decided", "the plan of w1 is approved already, by human", None
    ),
    "an edited one": (
        lambda: decide(EDITED), 4, "stale_plan", "the plan of w1 was changed since it was handed in", LOOK
    ),
    "of another session": (
        lambda: decide(HANDED, session="inc-2"), 4, "stale_plan", "the session of w1 that made this plan is over",
        "let it hand in another: pro0 member reject-plan w1 'hand it in again'",
    ),
    "a rejection without a word": (
        lambda: decide(HANDED, "rejected"), 2, "bad_input", "say what is wrong with the plan",
        'pro0 member reject-plan w1 "what to change"',
    ),
    "a lead agent decides": (
        lambda: plan_approval.may_decide(LEAD_AGENT, "human"), 4, "not_allowed",
        "only the person decides on plans in this team",
        "pro0 team start --plan-approval lead lets the lead agent do it",
    ),
    "more than its own mode": (
        lambda: within(seat(permission_mode=PermissionMode.EDITS), Wanted(), CONFIG), 4, "not_allowed",
        "a lead agent in the mode ask may not give anybody the mode edits",
        "leave the permission mode out, or ask the person",
    ),
}  # fmt: skip


def agents(written: Any) -> Any:
    return lambda: definitions(written)


PROGRAM = "agents.x: argv must begin with a program: its name, or an absolute path"
NAMES = "use 1 to 48 of a-z, 0-9 and '-', starting with a letter or a digit"
PLACES = f"{', '.join(f'{{{name}}}' for name in GIVEN)} and the word {{options}} in argv, acp and turn"
VARIABLE = "is not the name of a variable that can be passed on"
AGENTS: dict[str, Case] = {
    "no mapping": (
        agents([]), 2, "bad_input", "agents must be a mapping of names to definitions",
        'agents: {mine: {argv: [mine, "{prompt}"]}}',
    ),
    "no name": (
        agents({"A" * 100: {}}), 2, "bad_input", f"agents: {'A' * 80!r} cannot be the name of an agent", NAMES
    ),
    "an own name": (
        agents({"pi": {"argv": ["x"]}}), 2, "bad_input", "agents.pi: pro0 itself uses the name pi",
        "choose another name",
    ),
    "no program": (agents({"x": {"argv": [" "]}}), 2, "bad_input", PROGRAM, None),
    "a program in a folder": (agents({"x": {"argv": ["bin/x"]}}), 2, "bad_input", PROGRAM, None),
    "an unknown place": (
        agents({"x": {"argv": ["/bin/x", "{it}"]}}), 2, "bad_input",
        f"agents.x: '{{it}}': there is no {{it}}, only {PLACES}", None,
    ),
    "no place in a mode": (
        agents({"x": {"argv": ["/bin/x"], "modes": {"ask": ["{it}"]}}}), 2, "bad_input",
        f"agents.x: '{{it}}': there is no {{it}}, only {PLACES}", None,
    ),
    "no variable": (
        agents({"x": {"argv": ["x"], "environment": ["1A"]}}), 2, "bad_input",
        f"agents.x: environment: '1A' {VARIABLE}", None,
    ),
    "an identity": (
        agents({"x": {"argv": ["x"], "environment": ["PRO0_TEAM"]}}), 2, "bad_input",
        f"agents.x: environment: 'PRO0_TEAM' {VARIABLE}", None,
    ),
    "no such screens": (
        agents({"x": {"argv": ["x"], "screens": "vim"}}), 2, "bad_input",
        f"agents.x: screens: no screens of 'vim' are known, only those of {', '.join(sorted(DRAWN))}", None,
    ),
    "an empty sign": (
        agents({"x": {"argv": ["x"], "screens": {"prompt": ">", "error": [" "]}}}), 2, "bad_input",
        "agents.x: screens: an empty text would match any screen", None,
    ),
}  # fmt: skip


def layout(**written: Any) -> Any:
    return lambda: layout_of(written)


LAYOUTS: dict[str, Case] = {
    "no such member": (
        layout(windows=[{"panes": ["ada"]}]), 2, "bad_layout", "window-1: there is no member 'ada'",
        "add it to members",
    ),
    "two panes": (
        layout(members=["ada"], windows=[{"panes": ["ada"]}, {"panes": ["ada"]}]), 2, "bad_layout",
        "window-2: 'ada' has a pane already", "one pane per member",
    ),
    "a pane of nobody": (
        layout(windows=[{"panes": ["a", {"model": "x"}]}], members=["a"]), 2, "bad_layout",
        "window-1, pane 2: it needs a name or a shell_command", None,
    ),
    "no command": (
        layout(windows=[{"panes": [{"shell_command": []}]}]), 2, "bad_layout",
        "window-1, pane 1: shell_command must be a text, or a list of texts", None,
    ),
    "no name": (layout(members=[{"agent": "pi"}]), 2, "bad_layout", "members, 1: it needs a name", None),
    "no list": (layout(tasks="x"), 2, "bad_layout", "tasks: it must be a list", None),
    "no list of panes": (
        layout(windows=[{"panes": 3}]), 2, "bad_layout", "windows, 1, panes: it must be a list", None
    ),
    "no list of windows": (layout(windows="x"), 2, "bad_layout", "windows: it must be a list", None),
    "no mapping": (
        layout(members={"ada": 3}), 2, "bad_layout", "members, ada: it must be a mapping of names to values", None
    ),
    "no mapping of roles": (
        layout(roles={"r": 3}), 2, "bad_layout", "roles, r: it must be a mapping of names to values", None
    ),
    "no pane": (
        layout(windows=[{"window_name": "w", "panes": [3]}]), 2, "bad_layout",
        "w, pane 1: it must be a mapping of names to values", None,
    ),
    "an unknown word": (
        layout(windows=[{"name": "w"}]), 2, "bad_layout", "windows, 1: there is no 'name'",
        "did you mean window_name?",
    ),
    "a wrong value": (
        layout(members={"ada": {"agent": 7}}), 2, "bad_layout",
        "members, 1, agent: it must be a text, not a whole number", None,
    ),
    "two of one name": (
        layout(members=["ada", " ADA"]), 2, "bad_layout", "two members are called 'ada'",
        "names must differ by more than case",
    ),
    "two windows of one name": (
        layout(windows=[{"window_name": "w"}, {"window_name": "w"}]), 2, "bad_layout",
        "two windows are called 'w'", "names must differ by more than case",
    ),
}  # fmt: skip

CASES = {
    f"{about}: {what}": case
    for about, cases in {"plans": PLANS, "agents": AGENTS, "layouts": LAYOUTS}.items()
    for what, case in cases.items()
}


@pytest.mark.parametrize("what", CASES)
def test_what_is_refused_is_said_with_the_next_step(what: str) -> None:
    refused(*CASES[what])
