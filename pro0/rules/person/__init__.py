"""The person: the PIN of verdicts, and the answers to agents that ask leave."""
