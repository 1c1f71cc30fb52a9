"""`pro0 web`."""
