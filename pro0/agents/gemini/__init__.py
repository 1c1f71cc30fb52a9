"""The agent `gemini`."""
