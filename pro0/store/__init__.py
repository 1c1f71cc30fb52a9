"""The store: readable JSON at fixed paths, every file replaced whole."""
