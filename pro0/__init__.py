"""pro0 runs a team of coding agents in your terminal."""

__version__ = "0.1.0"
