"""`pro0 help`, `pro0 man`, `pro0 completion`."""
