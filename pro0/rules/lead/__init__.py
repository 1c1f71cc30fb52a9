"""The rules of the lead: decisions made from a snapshot alone."""
