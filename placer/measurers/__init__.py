"""Placement -> Measurement, by running the graph on real devices."""
