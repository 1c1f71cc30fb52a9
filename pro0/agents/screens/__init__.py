"""Screen rules of agents that only the settings define."""
