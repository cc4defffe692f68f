"""Rewriters: GraphDefs in, GraphDefs out; inputs are never edited."""
