"""The rules of repair: what is wrong in the store, and what is made of it."""
