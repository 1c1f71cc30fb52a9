"""The rules of repair: faults in the store, and documents rebuilt from their remains."""
