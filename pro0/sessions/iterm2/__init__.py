"""Sessions in iTerm2 panes."""
