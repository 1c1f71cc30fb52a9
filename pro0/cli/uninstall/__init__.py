"""The command that takes pro0 away."""
