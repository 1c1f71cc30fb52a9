"""The places where documents are kept: the interface of every kind of place, and folders."""
