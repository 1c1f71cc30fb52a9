"""How each agent is set up for the scripted provider: the files of a home, and the environment."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODEL = "scripted"


@dataclass(frozen=True)
class Setup:
    """The home and environment of a person who uses this agent with this provider."""

    files: dict[str, str]
    environment: dict[str, str]

    def write(self, home: Path) -> None:
        """Put the files into a home."""
        for name, text in self.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def claude(url: str, project: Path) -> Setup:
    """Claude Code, past its first-run questions."""
    seen: dict[str, Any] = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True}},
    }
    return Setup(
        {
            ".claude.json": json.dumps(seen),
            ".claude/settings.json": json.dumps({"skipDangerousModePermissionPrompt": True}),
        },
        {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        },
    )


def codex(url: str, project: Path) -> Setup:
    """Codex, with the provider in its own configuration."""
    settings = f"""
        model = "{MODEL}"
        model_provider = "scripted"
        check_for_update_on_startup = false
        [model_providers.scripted]
        name = "scripted"
        base_url = "{url}/v1"
        env_key = "OPENAI_API_KEY"
        wire_api = "responses"
        request_max_retries = 1
        stream_max_retries = 1
        [analytics]
        enabled = false
        [projects."{project}"]
        trust_level = "trusted"
    """
    return Setup({".codex/config.toml": settings}, {"OPENAI_API_KEY": "dummy"})


def opencode(url: str, _project: Path) -> Setup:
    """OpenCode, with the provider in the person's settings."""
    model = {"name": MODEL, "limit": {"context": 200_000, "output": 8_000}}
    settings: dict[str, Any] = {
        "model": f"scripted/{MODEL}",
        "small_model": f"scripted/{MODEL}",
        "autoupdate": False,
        "share": "disabled",
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "scripted",
                "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
                "models": {MODEL: model},
            }
        },
    }
    offline = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD")
    return Setup({".config/opencode/opencode.json": json.dumps(settings)}, dict.fromkeys(offline, "1"))


def pi(url: str, _project: Path) -> Setup:
    """Pi, with the provider among its models."""
    model = {"id": MODEL, "contextWindow": 200_000, "maxTokens": 8_000}
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "dummy", "models": [model]}
    return Setup(
        {
            ".pi/agent/models.json": json.dumps({"providers": {"scripted": provider}}),
            ".pi/agent/settings.json": json.dumps({"defaultProvider": "scripted", "defaultModel": MODEL}),
        },
        {"PI_OFFLINE": "1"},
    )


def gemini(url: str, _project: Path) -> Setup:
    """Gemini CLI, with the key in the environment."""
    settings: dict[str, Any] = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        # Otherwise it first asks a model to choose a model, and tries for minutes to understand the answer.
        "model": {"name": "gemini-2.5-pro"},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    return Setup(
        {".gemini/settings.json": json.dumps(settings)},
        {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "dummy", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    )


SETUPS: dict[str, Callable[[str, Path], Setup]] = {
    "claude": claude,
    "codex": codex,
    "opencode": opencode,
    "pi": pi,
    "gemini": gemini,
}
