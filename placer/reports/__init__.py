"""Reports: what a search found, for people and programs."""
