"""The rules of a run: one agent, one task after the other."""
