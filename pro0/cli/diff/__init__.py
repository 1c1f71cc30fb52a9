"""What members, workers and tasks changed: shown, counted, merged."""
