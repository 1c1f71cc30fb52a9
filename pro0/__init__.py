"""pro0 runs a team of coding agents in your terminal."""

__version__ = "0.2.0"

REPOSITORY = ""
"""The address at which pro0 is published; empty as long as it is not. Everything that names it takes it from here."""
