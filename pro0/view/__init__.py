"""The view: a whole team in one terminal, one member's screen at a time, and a board of what the team does.

It is a client of the terminals that guards make and a caller of operations, and holds nothing that would be missed:
whoever kills it harms nobody. Drawn by hand, row by row, because so what a person types reaches an agent as it came,
byte for byte, and a change of one row costs one row; a widget library would take both apart and 130 ms to start.
"""
