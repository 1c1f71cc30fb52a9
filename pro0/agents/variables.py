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
