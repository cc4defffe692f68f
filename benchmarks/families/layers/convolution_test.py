"""Tests for convolution."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from benchmarks.families.layers import batch_norm
from benchmarks.families.layers import convolution
from benchmarks.models import weights as weights_lib


def _images(size: int = 5) -> np.ndarray:
  generator = np.random.default_rng(0)
  return generator.standard_normal((2, size, size, 3), np.float32)


def _norm(images: np.ndarray) -> np.ndarray:
  mean, variance = images.mean(axis=(0, 1, 2)), images.var(axis=(0, 1, 2))
  return (images - mean) / np.sqrt(variance + batch_norm.EPSILON)


def _depthwise(images: np.ndarray, kernel: np.ndarray) -> np.ndarray:
  """Stride 1 and padding to the same size, in numpy."""
  window, size = len(kernel), images.shape[1]
  edge = window // 2
  padded = np.pad(images, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
  outputs = np.zeros_like(images)
  for row in range(window):
    for column in range(window):
      part = padded[:, row : row + size, column : column + size]
      outputs += part * kernel[row, column, :, 0]
  return outputs


class ConvolutionTest(parameterized.TestCase):
  def test_pointwise_matches_numpy(self):
    images = _images()
    with tf.Graph().as_default() as graph:
      outputs = convolution.pointwise(
        weights_lib.Constants(), {}, 'a/fit', tf.constant(images), 4, stride=2
      )
    self.assertStartsWith(outputs.name, 'fit/')
    with tf.compat.v1.Session(graph=graph) as session:
      got, kernel = session.run((outputs, 'a/fit/kernel:0'))
    rows = np.maximum(images, 0)[:, ::2, ::2]
    np.testing.assert_allclose(
      got, _norm(rows @ kernel[0, 0]), rtol=1e-3, atol=1e-4
    )

  @parameterized.parameters(3, 5)
  def test_separable_matches_numpy(self, window):
    images = _images()
    with tf.Graph().as_default() as graph:
      outputs = convolution.separable(
        weights_lib.Constants(), {}, 'sep', tf.constant(images), window
      )
    with tf.compat.v1.Session(graph=graph) as session:
      got = session.run(outputs)
      want = images
      for i in range(2):
        deep, wide = session.run(
          (f'sep/{i}/depthwise:0', f'sep/{i}/pointwise:0')
        )
        filtered = _depthwise(np.maximum(want, 0), deep)
        want = _norm(filtered @ wide[0, 0])
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)

  @parameterized.parameters((4, 2), (5, 3))
  def test_separable_halves_rounding_up(self, size, half):
    with tf.Graph().as_default():
      outputs = convolution.separable(
        weights_lib.Variables(), {}, 'sep', tf.constant(_images(size)), 3, 2
      )
    self.assertEqual(outputs.shape, (2, half, half, 3))


if __name__ == '__main__':
  absltest.main()
