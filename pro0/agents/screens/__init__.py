"""Screen rules of agents from the settings."""
