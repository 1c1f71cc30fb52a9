"""What concerns a home and no single team: its methods, and their server."""
