"""The methods with functions of their own. Every other operation is a method by its own signature."""
