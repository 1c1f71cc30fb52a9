"""The operations of a team and its members."""
