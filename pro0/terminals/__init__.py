"""Our own terminals: the screen model, and the protocol between a guard's terminal and its viewers.

Guards import this package, so it needs only the standard library.
"""
