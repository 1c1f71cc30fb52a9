"""The methods about a home, as opposed to one team, and their server."""
