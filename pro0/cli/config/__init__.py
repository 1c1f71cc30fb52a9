"""`pro0 config` and `pro0 verdict`."""
