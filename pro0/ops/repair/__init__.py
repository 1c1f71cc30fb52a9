"""The operations to find and repair damage."""
