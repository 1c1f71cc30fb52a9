"""Removing a team: what becomes of its folders, and the archive that keeps what it has done."""
