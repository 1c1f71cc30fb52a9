"""The changes of members, workers and tasks: shown, counted, merged."""
