"""Classical policies, one file each."""
