"""Where documents are kept: in folders; the room itself knows none of the kinds."""
