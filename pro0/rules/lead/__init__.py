"""The rules of the lead: what it decides, from a snapshot alone."""
