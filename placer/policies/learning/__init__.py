"""What the learned policies share: losses, baselines, training, checkpoints."""
