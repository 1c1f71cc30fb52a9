"""The removal of a team: the end of its folders, and the archive of its work."""
