"""`pro0 run`."""
