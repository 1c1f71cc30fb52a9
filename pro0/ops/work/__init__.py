"""The operations of runs and workers, members without a seat of their own choice."""
