"""The methods that are functions of their own; every other operation is one by its signature."""
