"""Devices: what --devices means, and the links between them."""
