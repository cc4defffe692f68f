"""Placeto: improves a placement op by op, also of graphs it has not seen."""
