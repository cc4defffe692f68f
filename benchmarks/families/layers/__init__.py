"""Convolutional layers of the cifar10 family, one layer a file.

As those of `benchmarks/models/layers`: functions over plain graph ops.
"""
