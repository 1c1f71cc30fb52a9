"""The texts that agents read."""
