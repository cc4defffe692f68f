"""ColocRL: an attentional sequence-to-sequence policy over fixed groups."""
