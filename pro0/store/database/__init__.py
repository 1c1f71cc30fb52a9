"""The documents of a team in a PostgreSQL database; loaded only for such a team."""
