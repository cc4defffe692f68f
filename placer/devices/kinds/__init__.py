"""The kinds of `--devices`; one file each, found by `registry.py`."""
