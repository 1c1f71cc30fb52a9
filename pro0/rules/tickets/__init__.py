"""The rules of import: tickets of other programs as tasks."""
