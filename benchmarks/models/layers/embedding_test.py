"""Tests for embedding."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import embedding


class EmbeddingTest(absltest.TestCase):
  def test_looks_up_rows(self):
    tokens = np.array([[1, 0], [4, 4]], np.int32)
    with tf.Graph().as_default() as graph:
      rows = embedding.apply(
        weights_lib.Constants(), 'embedding', tf.constant(tokens), 5, 3
      )
    self.assertEqual(rows.shape, (2, 2, 3))
    with tf.compat.v1.Session(graph=graph) as session:
      table, got = session.run(('embedding/table:0', rows))
    np.testing.assert_array_equal(got, table[tokens])


if __name__ == '__main__':
  absltest.main()
