"""The demo: a whole team at work in a folder of its own, in a series of acts, with checks at the end."""
