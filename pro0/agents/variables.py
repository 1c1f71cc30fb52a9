"""Variables shared by several agents: network settings, and the keys of model providers."""

NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
AMAZON = ("AWS_*",)
GOOGLE = ("GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_*")
FURTHER = (
    *("AZURE_*", *AMAZON, "OPENROUTER_*"),
    *("DEEPSEEK_*", "GROQ_*", "CEREBRAS_*", "XAI_*", "FIREWORKS_*", "AI_GATEWAY_*", "ZAI_*", "ZHIPU_*", "MISTRAL_*"),
    *(
        "MINIMAX_*",
        "MOONSHOT_*",
        "KIMI_*",
        "CLOUDFLARE_*",
        "XIAOMI_*",
        "HF_TOKEN",
        "TOGETHER_*",
        "OLLAMA_*",
        "LMSTUDIO_*",
    ),
    *("PERPLEXITY_*", "COHERE_*", "NVIDIA_*", "BASETEN_*", "DASHSCOPE_*", "DEEPINFRA_*"),
)
"""The keys and addresses of providers that sell the models of others, or models without an agent of their own."""
PROVIDERS = ("ANTHROPIC_*", "OPENAI_*", "GEMINI_*", *GOOGLE, "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN", *FURTHER)
"""The keys and addresses of the providers offered by opencode and pi."""

RESERVED: dict[str, tuple[str, ...]] = {
    "claude": (
        *("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_OAUTH_*"),
        *("CLAUDE_CODE_API_*", "CLAUDE_CODE_DISABLE_*", "CLAUDE_CODE_ENABLE_*", "CLAUDE_CODE_MAX_*"),
        *("CLAUDE_CODE_CLIENT_*", "CLAUDE_CODE_SUBAGENT_MODEL", "CLAUDE_CODE_EFFORT_LEVEL", "MAX_*", "BASH_*", "MCP_*"),
        *("DISABLE_*", "ENABLE_*", "API_TIMEOUT_MS", "IS_SANDBOX", *NETWORK, *AMAZON, *GOOGLE),
        *("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB", "CLAUDE_CODE_SHELL*", "CLAUDE_CODE_EXTRA_BODY", "CLAUDE_CODE_CERT_STORE"),
        *("CLAUDE_CODE_PROXY_*", "CLAUDE_CODE_TMPDIR", "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "CLAUDE_AUTOCOMPACT_*"),
        *("FORCE_PROMPT_CACHING_5M", "USE_BUILTIN_RIPGREP"),
    ),
    # Codex's settings may name any provider, and the variable with its key.
    "codex": ("OPENAI_*", "CODEX_*", *NETWORK, *FURTHER),
    "gemini": ("GEMINI_*", "CLOUD_SHELL", "SANDBOX_*", "SEATBELT_PROFILE", *GOOGLE, *NETWORK),
    "opencode": ("OPENCODE_*", *PROVIDERS, *NETWORK),
    "pi": ("PI_*", *PROVIDERS, *NETWORK),
}
"""The variables of each agent, which others do not get. They are here because each start needs those of all agents."""
ALL = tuple(pattern for patterns in RESERVED.values() for pattern in patterns)
