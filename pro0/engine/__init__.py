"""The lead: observe, decide, apply."""
