"""What an agent on another machine has used, as that machine says."""

import json
from pathlib import Path

import pytest

from pro0.agents.runner import USED
from pro0.link.usage import LETTERS, MODELS, MOST, keep

GOOD = {"input_tokens": 5, "output_tokens": 3, "models": ["scripted"], "cost_usd": 0.25}
ODD: tuple[dict[str, object], ...] = (
    {"input_tokens": -1},
    {"input_tokens": MOST + 1},
    {"input_tokens": 10**30},
    {"cost_usd": 1e300},
    {"output_tokens": 1.5},
    {"cache_read_tokens": "7"},
    {"cost_usd": -0.1},
    {"cost_usd": float("inf")},
    {"cost_usd": float("nan")},
    {"models": "scripted"},
    {"models": ["x"] * (MODELS + 1)},
    {"models": ["x" * (LETTERS + 1)]},
    {"models": ["\x1b[2J"]},
    {"input_tokens": None},
)


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_what_is_no_usage_changes_nothing(tmp_path: Path, odd: dict[str, object]) -> None:
    """Issue 19, must show 4."""
    folder = tmp_path / "session"
    keep(folder, GOOD | odd)
    assert not folder.exists()
    keep(folder, GOOD)
    kept = json.loads((folder / USED).read_bytes())
    assert {key: kept[key] for key in GOOD} == GOOD
    keep(folder, GOOD | odd)
    assert json.loads((folder / USED).read_bytes()) == kept
