"""A program of ours in or beside an agent: it reports the state in a file, and takes lines and answers from folders."""
