"""The rules of tasks: what may happen to one, and how the list looks afterwards."""
