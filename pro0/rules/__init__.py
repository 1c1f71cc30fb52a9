"""Pure decisions: no clock, no disk, no process, no randomness."""
