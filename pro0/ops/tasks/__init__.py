"""The operations of the task list."""
