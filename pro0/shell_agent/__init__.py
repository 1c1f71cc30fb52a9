"""The built-in agent without a model: it takes ready tasks and runs their `run` command."""
