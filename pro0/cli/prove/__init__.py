"""Proving an agent program: it runs in a team of one, in a folder of its own, with a scripted model."""
