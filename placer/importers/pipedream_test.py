import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.importers import pipedream


def _node(name, forward=1.0, backward=2.0, activation='100.0', parameter=10.0):
  return (
    f'{name} -- Conv2d(3, 8, bias=False) -- forward_compute_time={forward}, '
    f'backward_compute_time={backward}, activation_size={activation}, '
    f'parameter_size={parameter}\n'
  )


class PipedreamTest(parameterized.TestCase):
  def test_a_node_is_a_forward_and_a_backward_op(self):
    text = _node('b', 3.0, 4.0) + _node('a') + '\ta -- b\n'
    found = pipedream.load(text, 'f.txt')
    graph = found.graph
    self.assertEqual(graph.names, ('a', 'b', 'b/backward', 'a/backward'))
    self.assertEqual(
      graph.types, ('Conv2d', 'Conv2d', 'Conv2dGrad', 'Conv2dGrad')
    )
    np.testing.assert_allclose(
      found.accelerator_seconds, [0.001, 0.003, 0.004, 0.002]
    )
    np.testing.assert_array_equal(found.colour, [0, 1, 1, 0])
    np.testing.assert_array_equal(graph.persistent_bytes, [10, 10, 0, 0])
    edges = {
      (graph.names[s], graph.names[t], int(size))
      for s, t, size in zip(
        graph.edge_source, graph.edge_target, graph.edge_bytes, strict=True
      )
    }
    self.assertEqual(
      edges,
      {
        ('a', 'b', 100),
        ('a', 'b/backward', 100),
        ('b/backward', 'a/backward', 100),
        ('a', 'a/backward', 0),
        ('b', 'b/backward', 0),
      },
    )
    self.assertTrue(np.all(graph.edge_source < graph.edge_target))

  def test_inference_has_no_backward_ops(self):
    found = pipedream.load(_node('a', backward=0.0), 'f.txt')
    self.assertEqual(found.graph.names, ('a',))

  def test_an_activation_of_several_tensors(self):
    found = pipedream.load(_node('a', activation='[1.0; 2.0; 3.5]'), 'f.txt')
    self.assertEqual(found.graph.tensor_bytes[0], 6)

  @parameterized.parameters(
    (_node('a') + 'a -- b\n', 'leads to no node'),
    (_node('a') + 'what?\n', 'line 2'),
    (_node('a', forward='x'), 'forward_compute_time'),
    (_node('a') + _node('b') + 'a -- b\nb -- a\n', 'cycle'),
  )
  def test_mistakes_are_told(self, text, reason):
    with self.assertRaisesRegex(errors.GraphImportError, reason):
      pipedream.load(text, 'f.txt')

  def test_is_told_by_content(self):
    self.assertTrue(pipedream.matches(_node('a')))
    self.assertFalse(pipedream.matches('node { name: "a -- b" }'))


if __name__ == '__main__':
  absltest.main()
