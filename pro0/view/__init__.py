"""The view: a whole team in one terminal, with one member's screen at a time, and a board.

The view is a client of the guards' terminals and a caller of operations. It holds nothing worth keeping, so killing it
harms nobody. It draws by hand, row by row. So typed bytes reach an agent unchanged, and a change of one row costs one
row. A widget library would lose both, and takes 130 ms to start.
"""
