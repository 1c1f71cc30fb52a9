"""Which variables are kept: those that a pattern fits, as in a shell (behaviour 3.12)."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pro0.agents import adapter_named
from pro0.engine.opening import environment
from pro0.engine.opening.environment import kept_environment, of_agent, start_environment

WORDS = st.text("Aa_*?[]!-\n", max_size=6)


@given(WORDS, WORDS)
@example("Aa", "Aa")
@example("Aa", "A*")
@example("Aa", "*")
@example("Aa", "A**")
@example("A*", "A[*]")
@example("", "")
def test_a_pattern_fits_what_it_fits_in_a_shell(name: str, pattern: str) -> None:
    kept = name in start_environment({name: "v"}, [pattern])
    assert kept is fnmatchcase(name, pattern)


def test_no_start_compiles_an_expression_for_pro0s_own_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 15, build 6: a hundred of them cost a start of a team more than its files did."""

    def compiled(name: str, pattern: str) -> bool:
        raise AssertionError(f"{pattern} was compiled for {name}")

    monkeypatch.setattr(environment, "fnmatchcase", compiled)
    variables = {"LC_TIME": "C", "ANTHROPIC_API_KEY": "k", "OTHER": "o"}
    kept = kept_environment(variables, ["OTHER"], [])
    assert kept.variables == variables
    assert of_agent(kept, ["ANTHROPIC_*"]) == variables
    assert of_agent(kept, []) == {"LC_TIME": "C", "OTHER": "o"}


def test_the_names_of_a_team_are_sorted_once_for_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 17, must show 6: the lead asks three times a second for each member, and only values differ."""
    names = [f"NAME_{number}" for number in range(50)]
    seen = [of_agent(kept_environment(dict.fromkeys(names, "old"), names, []), ["NAME_*"])]

    def fit(patterns: object, name: str) -> bool:
        raise AssertionError(f"{name} was held against {patterns} again")

    kept = kept_environment(dict.fromkeys(names, "new"), names, [])
    monkeypatch.setattr("pro0.engine.opening.environment._Patterns.fit", fit)
    seen.append(of_agent(kept, ["NAME_*"]))
    assert seen == [dict.fromkeys(names, "old"), dict.fromkeys(names, "new")]


@pytest.mark.parametrize(
    ("agent", "name", "sees"),
    [
        ("codex", "OPENROUTER_API_KEY", True),
        ("codex", "AZURE_API_KEY", True),
        ("codex", "MISTRAL_API_KEY", True),
        ("codex", "ANTHROPIC_API_KEY", False),
        ("codex", "GITHUB_TOKEN", False),
        ("claude", "OPENROUTER_API_KEY", False),
        ("claude", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB", True),
        ("claude", "CLAUDE_CODE_SHELL_PREFIX", True),
        ("claude", "CLAUDE_CODE_EXTRA_BODY", True),
        ("claude", "CLAUDE_CODE_ENTRYPOINT", False),
        ("claude", "CLAUDE_CODE_SESSION_ID", False),
        ("gemini", "SEATBELT_PROFILE", True),
        ("gemini", "SANDBOX_FLAGS", True),
        ("shell", "XAUTHORITY", True),
    ],
)
def test_an_agent_sees_what_its_own_documentation_names(agent: str, name: str, sees: bool) -> None:
    """Codex takes the name of a key's variable from its settings. What a Claude sets for its children stays out."""
    kept = kept_environment({name: "v"}, (), [])
    assert (name in of_agent(kept, adapter_named(agent).passes)) is sees
