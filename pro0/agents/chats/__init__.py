"""The prompts, answers and tool calls of agents, read entry by entry from their transcripts."""
