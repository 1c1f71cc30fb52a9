"""The rules of tasks: every permitted act, and the task list after it."""
