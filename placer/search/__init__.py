"""Search: the loop, its budget, its trial log."""
