"""pro0 runs a team of coding agents in your terminal."""

__version__ = "0.2.0"

REPOSITORY = ""
"""The address at which pro0 is published, empty until it is. All code that shows the address reads it from here."""
