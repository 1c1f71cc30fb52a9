"""Proving an agent program: a scripted model, a team of one in a folder of its own, and what holds of it."""
