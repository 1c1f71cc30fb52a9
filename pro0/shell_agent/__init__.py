"""The built-in agent, which needs no model: it takes ready tasks and runs their `run` command."""
