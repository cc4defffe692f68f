"""Tests for attention."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import attention


class AttentionTest(absltest.TestCase):
  def test_matches_numpy(self):
    generator = np.random.default_rng(0)
    values = generator.standard_normal((3, 5, 4), np.float32)
    query = generator.standard_normal((3, 4), np.float32)
    with tf.Graph().as_default() as graph:
      weights = weights_lib.Constants()
      steps = [tf.constant(values[:, t]) for t in range(5)]
      over = attention.memory(weights, 'memory', steps)
      outputs = attention.apply(weights, 'attention', tf.constant(query), over)
    with tf.compat.v1.Session(graph=graph) as session:
      key_kernel, kernel, got = session.run(
        ('memory/kernel:0', 'attention/kernel:0', outputs)
      )
    scores = np.einsum('bh,bth->bt', query, values @ key_kernel)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    context = np.einsum('bt,bth->bh', shares, values)
    want = np.tanh(np.concatenate([query, context], axis=1) @ kernel)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


if __name__ == '__main__':
  absltest.main()
