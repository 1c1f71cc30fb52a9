"""The rules of screens: an agent's state, read from its screen, title and sources."""
