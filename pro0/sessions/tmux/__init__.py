"""Sessions in tmux panes."""
