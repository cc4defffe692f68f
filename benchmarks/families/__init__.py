"""Families of graphs to train a policy on and to test it on unseen graphs.

Three families of 32 training graphs each, of the ranges of Placeto (Addanki et
al., NeurIPS 2019, A.3; the paper's own 96 graphs cannot be had):

  cifar10   convolutional cells sampled as ENAS does; batch 240 to 360
  ptb       recurrent cells sampled as ENAS does; batch 1536 to 3072, 25 to 40
            unrolled steps
  nmt       2 + 2 LSTM layers with attention; batch 64 to 128, 16 to 32 steps

Each graph is one real training step (forward, loss, gradients, update), in the
form that `benchmarks/models/meta_graph.py` specifies. A family's members are
drawn uniformly and fixed for good: members 0 to 15 are the half to train on,
'train', and 16 to 31 the half to test on, 'test'. Another seed gives another
family of the same kind.

As files, for `placer train --graphs='DIR/*.pb'`:

  python -m benchmarks.families --family=cifar10 --output_dir=DIR --split=train

As problems with costs, for code that trains: made once, then read from the
cache folder:

  devices = target.resolve('simulated:k80x4')
  for name, problem in families.problems('cifar10', 'train', devices):
    ...

A new family is one file of this folder with a `FAMILY`; see `base`.
"""

from benchmarks.families.family_problems import problems

__all__ = ['problems']
