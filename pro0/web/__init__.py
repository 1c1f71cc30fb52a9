"""The page of a home in a browser: one process that holds no truth and may be killed at any time."""
