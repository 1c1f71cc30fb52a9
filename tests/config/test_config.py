"""Settings: S004-105…110, S004-116, AC-77, rulings 3.14."""

import contextlib
import itertools
import json
import string
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0 import config
from pro0.config import Settings
from pro0.errors import BadInput, Refused
from pro0.model.decision import LeadPolicy
from tests.waiting import STUCK

PRD_BLOCK = """{
  "experimental": {
    "agentTeams": {
      "enabled": true,
      "maxTeammates": 4,
      "teammateMode": "tmux",  // "in-process" | "tmux" | "iterm2" | "auto"
      "pollIntervalMs": 5000,
      "cleanupOnExit": false
    }
  }
}
"""
FROM_BLOCK = Settings(enabled=True, max_teammates=4, teammate_mode="tmux", poll_interval_ms=5000, cleanup_on_exit=False)


def trusted(_powers: config.Powers) -> bool:
    """Agree to all that the project asks for; what it may say without is for tests/ops/test_trust.py."""
    return True


class Place:
    """A home and a project that may have settings files."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"

    def user(self, text: str | bytes) -> Path:
        return self._write(self.home / config.USER_FILE, text)

    def own(self, text: str | bytes) -> Path:
        return self._write(self.project / config.PROJECT_FILE, text)

    def load(self, environ: Mapping[str, str] | None = None, **flags: object) -> Settings:
        return config.load(self.home, self.project, environ or {}, flags, trusted)

    def _write(self, path: Path, text: str | bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_defaults_are_those_of_the_prd_and_nothing_is_written(place: Place) -> None:
    """S004-106…109, rulings 3.14."""
    assert place.load() == Settings(
        enabled=True, max_teammates=10, teammate_mode="auto", poll_interval_ms=3000, cleanup_on_exit=True
    )
    assert not place.home.exists()
    assert not place.project.exists()


@pytest.mark.parametrize("given_in", list(itertools.product([False, True], repeat=4)))
def test_the_first_source_that_says_something_wins(place: Place, given_in: tuple[bool, ...]) -> None:
    """Rulings 3.14: flag > environment > project > user > default, every combination."""
    flag, environment, project, user = given_in
    if project:
        place.own("maxTeammates: 3\n")
    if user:
        place.user("maxTeammates: 2\n")
    environ = {"PRO0_MAX_TEAMMATES": "4"} if environment else {}
    flags = {"maxTeammates": 5 if flag else None}
    sources = ["flag", "PRO0_MAX_TEAMMATES", str(place.project / config.PROJECT_FILE), str(place.home / "config.yaml")]
    expected = [*zip([5, 4, 3, 2], sources, strict=True), (10, "default")][[*given_in, True].index(True)]
    chosen = {c.name: c for c in config.explain(place.home, place.project, environ, flags, trusted)}
    assert (chosen["maxTeammates"].value, chosen["maxTeammates"].source) == expected
    assert place.load(environ, **flags).max_teammates == expected[0]


def test_each_setting_is_decided_alone(place: Place) -> None:
    place.own("maxTeammates: 3\n")
    place.user("maxTeammates: 2\nteammateMode: headless\n")
    settings = place.load({"PRO0_CLEANUP_ON_EXIT": "0"})
    assert (settings.max_teammates, settings.teammate_mode, settings.cleanup_on_exit) == (3, "headless", False)


def test_without_a_project_only_the_user_file_counts(place: Place) -> None:
    place.own("maxTeammates: 3\n")
    place.user("maxTeammates: 2\n")
    assert config.load(place.home, None, {}, {}).max_teammates == 2


BLOCKS = {
    "prd-json-with-comments": PRD_BLOCK,
    "flat-yaml": "enabled: true\nmaxTeammates: 4\nteammateMode: tmux # here\npollIntervalMs: 5000\n"
    "cleanupOnExit: false\n",
    "yaml-block": "experimental:\n  agentTeams: {maxTeammates: 4, teammateMode: tmux, pollIntervalMs: 5000,"
    " cleanupOnExit: no}\n",
    "plain-json": json.dumps(
        {"maxTeammates": 4, "teammateMode": "tmux", "pollIntervalMs": 5000, "cleanupOnExit": False}
    ),
    "json-with-tabs": PRD_BLOCK.replace("  ", "\t"),
    "json-after-a-comment": "// teams\n/* of\nmine */ " + PRD_BLOCK,
    "json-with-a-trailing-comma": PRD_BLOCK.replace("false", "false,"),
    "json-with-a-byte-order-mark": "\ufeff" + PRD_BLOCK,
    "both-forms": "maxTeammates: 4\nteammateMode: tmux\nexperimental:\n  agentTeams:\n    pollIntervalMs: 5000\n"
    "    cleanupOnExit: false\n",
}


@pytest.mark.parametrize("text", BLOCKS.values(), ids=BLOCKS)
def test_every_accepted_form_of_a_file(place: Place, text: str) -> None:
    """S004-105…109, rulings 3.14: the PRD's block as it is, comments included."""
    place.user(text)
    assert place.load() == FROM_BLOCK


EMPTY = {
    "empty": "",
    "blank": " \n",
    "comment": "# nothing yet\n",
    "json": "{}",
    "null": "~\n",
    "block": "experimental:\n",
}


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_a_file_that_says_nothing(place: Place, text: str) -> None:
    place.user(text)
    assert place.load() == Settings()


def test_comment_marks_inside_strings_stay(place: Place) -> None:
    place.user('{"teammateMode": "tm//ux"}')
    with pytest.raises(BadInput, match="'tm//ux'"):
        place.load()


def test_a_letter_in_two_halves_is_one(place: Place) -> None:
    """As json.dumps writes it, which is JSON as it should be."""
    place.user("// mine\n" + json.dumps({"worktree": {"setup": "echo \U0001f600"}}))
    assert place.load().worktree["setup"] == "echo \U0001f600"


@pytest.mark.parametrize(("given_ms", "ms"), [(0, 1000), (1, 1000), (999, 1000), (1000, 1000), (1001, 1001)])
def test_the_poll_interval_is_raised_to_a_second(place: Place, given_ms: int, ms: int) -> None:
    """S004-108, NFR2: at most one look per second."""
    place.user(f"pollIntervalMs: {given_ms}\n")
    assert place.load().poll_interval_ms == ms


BAD = {
    "enabled": ["maybe", 1, 0, "true", [], {}, 1.0],
    "maxTeammates": [0, 101, -1, 2.5, "10", True, [3], "many"],
    "teammateMode": ["screen", "", "TMUX", 1, True, ["tmux"], {}],
    "pollIntervalMs": [-1, 3_600_001, "3000", 1.5, False, 10**30],
    "cleanupOnExit": ["sometimes", 2, "yes please"],
    "reviveLead": ["maybe", 1, []],
    "passEnvironment": ["A", {"A": 1}, [1], ["A B"], ["*"], [""], ["A*B"], ["1A"], ["A=B"], True],
    "notify": [1, ["cat"], "cat\n", "http://host:99999/topic", "https://host:port", "http://[host/topic"],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in BAD.items() for value in values])
def test_a_bad_value_names_key_value_file_and_what_is_allowed(place: Place, key: str, value: object) -> None:
    """AC-77, S004-116."""
    path = place.own(json.dumps({key: value}))
    with pytest.raises(BadInput) as caught:
        place.load()
    rule = next(setting.rule for setting in config.SETTINGS if setting.name == key)
    assert caught.value.exit_code == 2
    shown = json.dumps(value) if isinstance(value, bool) else repr(value)
    for part in (key, shown, str(path), rule.allowed):
        assert part in caught.value.message


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("PRO0_EXPERIMENTAL_AGENT_TEAMS", "2"),
        ("PRO0_MAX_TEAMMATES", "ten"),
        ("PRO0_MAX_TEAMMATES", "1_0"),
        ("PRO0_MAX_TEAMMATES", "0"),
        ("PRO0_TEAMMATE_MODE", "panes"),
        ("PRO0_POLL_INTERVAL_MS", "3s"),
        ("PRO0_CLEANUP_ON_EXIT", "perhaps"),
        ("PRO0_AGENTS", "{'mine'}"),
    ],
)
def test_a_bad_variable_names_itself(place: Place, variable: str, text: str) -> None:
    """AC-77, S004-110."""
    with pytest.raises(BadInput) as caught:
        place.load({variable: text})
    assert variable in caught.value.message
    assert repr(text) in caught.value.message


def test_an_empty_variable_says_nothing(place: Place) -> None:
    assert place.load({setting.rule.variable: "" for setting in config.SETTINGS}) == Settings()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("maxTeamates: 3", "did you mean maxTeammates?"),
        ("max_teammates: 3", "did you mean maxTeammates?"),
        ("colour: red", "known: enabled,"),
        ("5: 3", "known: enabled,"),
        ("experimental: {agentTeam: {}}", "did you mean agentTeams?"),
        ("experimental: {agentTeams: {teamateMode: tmux}}", "did you mean teammateMode?"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_name(place: Place, text: str, hint: str) -> None:
    """S004-116."""
    path = place.user(text)
    with pytest.raises(BadInput) as caught:
        place.load()
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(hint)
    assert str(path) in caught.value.message


def test_an_unknown_flag_is_refused(place: Place) -> None:
    with pytest.raises(BadInput, match="no setting 'max'"):
        place.load(max=3)


def test_a_flag_may_be_text(place: Place) -> None:
    assert place.load(maxTeammates="7", enabled="no") == Settings(max_teammates=7, enabled=False)


HUGE = f"0x{'f' * 5000}"
"""A number with more digits than Python writes."""
BROKEN = {
    "list": "- enabled\n",
    "text": "enabled\n",
    "unclosed": '{"enabled": true',
    "block-is-a-list": "experimental: [agentTeams]\n",
    "teams-is-a-number": "experimental: {agentTeams: 1}\n",
    "a-key-twice": "maxTeammates: 3\nenabled: true\nmaxTeammates: 4\n",
    "a-key-twice-inside": "hooks:\n  TaskCompleted: make\n  TaskCompleted: 'true'\n",
    "a-key-twice-in-json": '{"maxTeammates": 3, /* or */ "maxTeammates": 4}',
    "twice": "maxTeammates: 3\nexperimental: {agentTeams: {maxTeammates: 3}}\n",
    "empty-int": 'maxTeammates: !!int ""\n',
    "bad-timestamp": "maxTeammates: 2026-99-99\n",
    "bad-tag": "maxTeammates: !!bool perhaps\n",
    "python-tag": "maxTeammates: !!python/object/apply:os.getcwd []\n",
    "unhashable-key": "? [a]\n: 1\n",
    "deep": "[" * 100_000,
    "many": "[" + "x," * 100_000 + "]",
    "long-number": "maxTeammates: " + "9" * 5000,
    **{f"huge-{setting.name}": f"{setting.name}: {HUGE}" for setting in config.SETTINGS},
    "huge": HUGE,
    "huge-in-a-list": f"passEnvironment: [{HUGE}]",
    "huge-hooks": f"hooks: {HUGE}",
    "huge-key": f"? {HUGE}\n: 1",
    "huge-event": f"hooks:\n  ? {HUGE}\n  : make",
    "huge-agent": f"agents:\n  ? {HUGE}\n  : {{argv: [mine]}}",
    "alias": "a: &a [x]\nb: [*a, *a]\n",
    "bomb": "a: &a [x,x,x]\n"
    + "".join(f"{k}: &{k} [{','.join(['*' + j] * 9)}]\n" for j, k in itertools.pairwise("abcdefghi")),
    "not-utf-8": b"\xff\xfe\xfa",
    "half-a-letter": 'worktree: {setup: "echo \\ud800"}\n',
    "half-a-letter-in-a-hook": '{"hooks": {"TaskCompleted": ["echo \\ude00"]}}',
    "half-a-letter-in-a-key": '"\\ud83d": 1\n',
    "nul": "enabled: \x00\n",
    "too-large": "# " + "x" * config.SIZE_LIMIT,
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_used_is_an_error_that_names_it(place: Place, text: str | bytes) -> None:
    """S004-116: never read as empty, never a traceback, never evaluated."""
    path = place.user(text)
    with pytest.raises(BadInput) as caught:
        place.load()
    assert str(path) in caught.value.message
    assert len(caught.value.message) < 1000


def test_what_is_not_a_regular_file_is_an_error(place: Place) -> None:
    (place.home / config.USER_FILE).mkdir(parents=True)
    with pytest.raises(BadInput, match="not a regular file"):
        place.load()


def dead(link: Path) -> None:
    link.symlink_to(link.parent / "disk" / "dotfiles" / "pro0.yaml")


def below_a_file(link: Path) -> None:
    link.symlink_to("/etc/passwd/pro0.yaml")


def chained(link: Path) -> None:
    second = link.with_name("second")
    dead(second)
    link.symlink_to(second)


def circular(link: Path) -> None:
    link.symlink_to(link)


@pytest.mark.parametrize("link", [dead, below_a_file, chained, circular])
@pytest.mark.parametrize("whose", ["the file", "its folder"])
@pytest.mark.parametrize("file", [Path("home") / config.USER_FILE, Path("project") / config.PROJECT_FILE], ids=str)
def test_settings_behind_a_link_that_leads_nowhere_are_not_missing(
    link: Callable[[Path], None], whose: str, file: Path, tmp_path: Path
) -> None:
    """The disk of a person's dotfiles may be away: what they forbid there stays forbidden."""
    path = tmp_path / file
    linked = path if whose == "the file" else path.parent
    linked.parent.mkdir(parents=True, exist_ok=True)
    link(linked)
    with pytest.raises(BadInput) as caught:
        Place(tmp_path).load()
    assert str(path) in caught.value.message
    assert link is circular or caught.value.hint


def test_settings_in_a_place_that_is_no_folder_are_missing(place: Place) -> None:
    place.own("")
    file = place.project / config.PROJECT_FILE
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("of another program")
    assert place.load() == Settings()


def test_a_variable_without_a_name_sets_nothing(place: Place) -> None:
    """`env =x PROGRAM` makes one; some settings have no variable."""
    assert place.load({"": "scripts"}) == place.load({})


@pytest.mark.parametrize("how", ["user", "project", "environment", "flag"])
def test_teams_turned_off_are_refused_and_nothing_is_made(place: Place, how: str) -> None:
    """AC-77."""
    if how == "project":
        place.own(PRD_BLOCK.replace('"enabled": true', '"enabled": false'))
    environ, flags = {}, {}
    home = place.home / "deep"
    if how == "user":
        place.home = home = place.project
        place.user("enabled: false\n")
    if how == "environment":
        environ = {"PRO0_EXPERIMENTAL_AGENT_TEAMS": "0"}
    if how == "flag":
        flags = {"enabled": False}
    settings = config.load(home, place.project, environ, flags)
    with pytest.raises(Refused, match="turned off") as caught:
        config.require_enabled(settings)
    assert (caught.value.exit_code, caught.value.code) == (4, "disabled")
    assert how == "user" or not home.exists()


def test_the_variable_turns_teams_on_over_the_files(place: Place) -> None:
    """S004-110."""
    place.own("enabled: false\n")
    config.require_enabled(place.load({"PRO0_EXPERIMENTAL_AGENT_TEAMS": "1"}))


def test_a_list_of_names(place: Place) -> None:
    """A list in a file, text with commas in the environment; the stronger source replaces the weaker one whole."""
    assert place.load().pass_environment == ()
    place.user("passEnvironment: [ANTHROPIC_API_KEY, AWS_*]\n")
    assert place.load().pass_environment == ("ANTHROPIC_API_KEY", "AWS_*")
    assert place.load({"PRO0_PASS_ENVIRONMENT": " A_KEY, B*,"}).pass_environment == ("A_KEY", "B*")
    assert place.load({"PRO0_PASS_ENVIRONMENT": ""}).pass_environment == ("ANTHROPIC_API_KEY", "AWS_*")
    with pytest.raises(BadInput, match=r"passEnvironment must be a list of variable names \("):
        place.load({"PRO0_PASS_ENVIRONMENT": "A KEY"})


MINE, OTHER = {"argv": ["mine"]}, {"argv": ["other"]}


def test_agents_of_all_sources_count_and_a_persons_own_before_a_projects(place: Place) -> None:
    """What a repository says must not change what a person's own word for an agent means, agreed to or not."""

    def agreed(_powers: config.Powers) -> bool:
        return True

    place.user(json.dumps({"agents": {"mine": MINE, "both": MINE}}))
    place.own(json.dumps({"agents": {"theirs": OTHER, "both": OTHER}}))
    environ = {"PRO0_AGENTS": json.dumps({"mine": OTHER})}
    found = config.load(place.home, place.project, environ, {}, agreed).agents
    assert {name: one.argv[0] for name, one in found.items()} == {
        "mine": "other",
        "both": "mine",
        "theirs": "other",
    }
    chosen = next(c for c in config.explain(place.home, place.project, environ, {}, agreed) if c.name == "agents")
    sources = ("PRO0_AGENTS", str(place.home / config.USER_FILE), str(place.project / config.PROJECT_FILE))
    assert chosen.source == ", ".join(sources)


def test_the_persons_settings_may_lie_in_the_project(place: Place) -> None:
    """As they do for who works in the home directory."""
    place.home = place.project / ".pro0"
    place.user(json.dumps({"agents": {"mine": MINE}}))
    assert list(place.load().agents) == ["mine"]


@pytest.mark.parametrize("write", [Place.user, Place.own], ids=["user", "project"])
def test_nobody_defines_pro0s_own_agents_anew(place: Place, write: Callable[[Place, str], Path]) -> None:
    path = write(place, json.dumps({"agents": {"claude": MINE}}))
    with pytest.raises(BadInput, match=r"agents\.claude: pro0 itself uses the name claude") as caught:
        place.load()
    assert str(path) in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["agents", "worktree"])
@pytest.mark.parametrize("text", ["[" * 30_000, '{"a":' * 30_000], ids=["lists", "mappings"])
def test_json_that_is_nested_too_deep_is_a_bad_value(name: str, text: str, place: Place) -> None:
    """S004-116: never a traceback; as a variable, and as `config set` takes it."""
    rule = next(setting.rule for setting in config.SETTINGS if setting.name == name)
    with pytest.raises(BadInput, match=f"^{name} must be {rule.allowed}, not .*{rule.variable}") as caught:
        place.load({rule.variable: text})
    assert len(caught.value.message) < 1000
    with pytest.raises(BadInput, match=f"^{name} must be {rule.allowed}, not "):
        config.value_of(name, text)


def test_agents_in_the_environment_are_json(place: Place) -> None:
    with pytest.raises(BadInput, match=r"agents must be a mapping.*PRO0_AGENTS"):
        place.load({"PRO0_AGENTS": "mine"})


def test_every_setting_is_a_whole_row() -> None:
    for setting in config.SETTINGS:
        assert setting.rule.check(setting.default) == setting.default
        assert setting.rule.variable.startswith("PRO0_") or setting.name == "verdicts"
        assert setting.rule.about.endswith(".")
    assert [s.name for s in config.SETTINGS][:5] == [
        "enabled",
        "maxTeammates",
        "teammateMode",
        "pollIntervalMs",
        "cleanupOnExit",
    ]


def test_the_leads_policy_is_part_of_the_settings() -> None:
    assert msgspec.convert(Settings(), LeadPolicy, from_attributes=True) == LeadPolicy()
    assert set(LeadPolicy.__struct_fields__) <= set(Settings.__struct_fields__)


def test_yaml_is_only_imported_for_a_file(tmp_path: Path) -> None:
    load = "import sys, pathlib, pro0.config as c; c.load(pathlib.Path(sys.argv[1]), None, {}, {})"
    check = "assert not {'yaml', 'difflib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{load}; {check}", str(tmp_path)], check=True, timeout=STUCK)


VALUES = {
    "enabled": st.booleans(),
    "maxTeammates": st.integers(1, 100),
    "teammateMode": st.sampled_from(config.MODES),
    "pollIntervalMs": st.integers(1000, 3_600_000),
    "cleanupOnExit": st.booleans(),
    "reviveLead": st.booleans(),
}
LAYER = st.fixed_dictionaries({}, optional=VALUES)


@given(st.lists(LAYER, min_size=4, max_size=4), st.booleans())
def test_any_layers_give_the_first_value_of_each(
    tmp_path_factory: pytest.TempPathFactory, layers: list[dict[str, object]], block: bool
) -> None:
    flags, environment, project, user = layers
    place = Place(tmp_path_factory.mktemp("config"))
    for layer, write in ((project, place.own), (user, place.user)):
        write(json.dumps({"experimental": {"agentTeams": layer}} if block else layer))
    variables = {setting.name: setting.rule.variable for setting in config.SETTINGS}
    environ = {variables[name]: str(value) for name, value in environment.items()}
    chosen = {c.name: c.value for c in config.explain(place.home, place.project, environ, flags, trusted)}
    defaults = {setting.name: setting.default for setting in config.SETTINGS}
    assert chosen == defaults | user | project | environment | flags


@given(
    st.one_of(st.text(max_size=200), st.text(string.punctuation + " \n\tabn01", max_size=80), st.binary(max_size=80))
)
def test_any_file_gives_settings_or_one_of_our_errors(
    tmp_path_factory: pytest.TempPathFactory, text: str | bytes
) -> None:
    place = Place(tmp_path_factory.mktemp("config"))
    place.user(text.encode(errors="surrogatepass") if isinstance(text, str) else text)
    with contextlib.suppress(BadInput):
        assert isinstance(place.load(), Settings)
