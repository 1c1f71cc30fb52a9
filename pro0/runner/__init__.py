"""The runner: the engine of `pro0 run`, as a member of the team. Its decisions are in `rules/runs/`."""
