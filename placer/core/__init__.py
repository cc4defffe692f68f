"""The nouns of placement; numpy only."""
