"""The rules of screens: what an agent's screen, title and sources say it does."""
