"""HP: a learned grouper, and the placer of seq2seq on what it groups."""
