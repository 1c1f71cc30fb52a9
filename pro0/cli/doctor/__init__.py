"""`pro0 doctor`."""
