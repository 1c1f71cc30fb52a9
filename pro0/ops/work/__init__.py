"""The operations of those who work without a seat of their own choice: runs and workers."""
