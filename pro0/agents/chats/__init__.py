"""What agents were given, said and called, entry by entry, from their transcripts."""
