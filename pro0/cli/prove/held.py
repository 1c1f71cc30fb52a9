"""What a check of a proof raises."""


class NotHeld(Exception):
    """A check did not hold; the text says what was seen instead."""
