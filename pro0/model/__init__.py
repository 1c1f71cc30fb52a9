"""Frozen values: what is stored and what is decided about. Nothing here acts."""
