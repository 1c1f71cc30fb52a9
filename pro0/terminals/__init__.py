"""Terminals that are ours: the screen model, and how a guard's terminal and those who look at it speak.

Guards import this, so nothing here needs more than the standard library.
"""
