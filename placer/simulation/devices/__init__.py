"""Descriptions of devices, one JSON file each; see `device_description.py`."""
