"""Policies: they suggest placements and learn from trials."""
