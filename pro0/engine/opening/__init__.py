"""How a session is opened."""
