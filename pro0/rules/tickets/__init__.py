"""The rules of import: tickets of other programs become tasks."""
