"""Variables shared by several agents: network settings, and the keys of model providers."""

NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
AMAZON = ("AWS_*",)
GOOGLE = ("GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_*")
PROVIDERS = (
    *("ANTHROPIC_*", "OPENAI_*", "AZURE_*", "GEMINI_*", *AMAZON, *GOOGLE, "OPENROUTER_*", "GITHUB_TOKEN"),
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
    *("COPILOT_GITHUB_TOKEN", "PERPLEXITY_*", "COHERE_*", "NVIDIA_*", "BASETEN_*", "DASHSCOPE_*", "DEEPINFRA_*"),
)
"""The keys and addresses of the providers offered by opencode and pi."""

RESERVED: dict[str, tuple[str, ...]] = {
    "claude": (
        *("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_OAUTH_*"),
        *("CLAUDE_CODE_API_*", "CLAUDE_CODE_DISABLE_*", "CLAUDE_CODE_ENABLE_*", "CLAUDE_CODE_MAX_*"),
        *("CLAUDE_CODE_CLIENT_*", "CLAUDE_CODE_SUBAGENT_MODEL", "CLAUDE_CODE_EFFORT_LEVEL", "MAX_*", "BASH_*", "MCP_*"),
        *("DISABLE_*", "ENABLE_*", "API_TIMEOUT_MS", "IS_SANDBOX", *NETWORK, *AMAZON, *GOOGLE),
    ),
    "codex": ("OPENAI_*", "CODEX_*", "AZURE_OPENAI_*", "OLLAMA_*", *NETWORK, *AMAZON),
    "gemini": ("GEMINI_*", *GOOGLE, *NETWORK),
    "opencode": ("OPENCODE_*", *PROVIDERS, *NETWORK),
    "pi": ("PI_*", *PROVIDERS, *NETWORK),
}
"""The variables of each agent, which others do not get. They are here because each start needs those of all agents."""
ALL = tuple(pattern for patterns in RESERVED.values() for pattern in patterns)
