"""The demo: a whole team at work in a folder of its own, told as a list of acts, and checked at the end."""
