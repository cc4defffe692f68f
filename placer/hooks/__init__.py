"""The tf.function hook: a user's own function under a placement."""
