"""The runner: the run engine of `pro0 run`, as a member of the team. What it decides is in `rules/runs/running.py`."""
