"""The operations that find and repair damage."""
