import numpy as np
from absl.testing import absltest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from tensorflow.core.framework import graph_pb2

from placer.core import errors
from placer.rewriters import annotate
from placer.rewriters import strip
from placer.rewriters import verify
from placer.testing import graphs

_DEVICES = [f'/job:localhost/replica:0/task:0/device:CPU:{i}' for i in range(3)]
_X = np.arange(16, dtype=np.float32).reshape(4, 4) / 20


_GRAPHS = {
  'functional_loop': graphs.functional_loop(),
  'shared_function': graphs.shared_function(),
  'v1_loop': graphs.v1_loop(),
  'training': graphs.training(),
}


def _all_paths(graph_def: graph_pb2.GraphDef) -> list[str]:
  """Every op path of a graph, found by putting a device on each node."""
  marked = graph_pb2.GraphDef()
  marked.CopyFrom(graph_def)
  for nodes in [marked.node] + [f.node_def for f in marked.library.function]:
    for node in nodes:
      node.device = 'x'
  return sorted(strip.devices(marked))


class AnnotateTest(absltest.TestCase):
  @settings(max_examples=30, deadline=None)
  @given(st.data())
  def test_what_is_annotated_is_what_is_found_again(self, data):
    graph_def = _GRAPHS[data.draw(st.sampled_from(sorted(_GRAPHS)))]
    before = graph_def.SerializeToString(deterministic=True)
    devices = {
      path: data.draw(st.sampled_from(_DEVICES))
      for path in _all_paths(graph_def)
      if data.draw(st.booleans())
    }
    placed = annotate.annotate(graph_def, devices)
    self.assertEqual(strip.devices(placed), devices)
    self.assertEqual(graph_def.SerializeToString(deterministic=True), before)

  def test_two_callers_of_one_function_on_two_devices_run(self):
    graph_def = graphs.shared_function()
    first, second = graphs.call_nodes(graph_def)
    placed = annotate.annotate(
      graph_def,
      {f'{first}@f/double': _DEVICES[0], f'{second}@f/double': _DEVICES[2]},
    )
    self.assertLen(placed.library.function, 2)
    verify.verify(graph_def, placed, legal_devices=_DEVICES)
    x = _X[:2, :2]
    np.testing.assert_allclose(
      graphs.run(placed, ['out:0'], {'x:0': x}, devices=3)[0], 4 * x
    )

  def test_two_callers_on_one_device_share_the_function(self):
    graph_def = graphs.shared_function()
    placed = annotate.annotate(
      graph_def,
      {
        f'{call}@f/double': _DEVICES[1] for call in graphs.call_nodes(graph_def)
      },
    )
    self.assertLen(placed.library.function, 1)

  def test_unknown_paths_are_an_error(self):
    graph_def = graphs.shared_function()
    call = graphs.call_nodes(graph_def)[0]
    for path in ('nowhere', f'{call}@f/nowhere', f'{call}@g/double'):
      with self.assertRaises(KeyError):
        annotate.annotate(graph_def, {path: _DEVICES[0]})

  def test_bodies_are_stripped_too(self):
    graph_def = graphs.pinned_body()
    self.assertIn('/device:GPU:3', strip.devices(graph_def).values())
    self.assertEmpty(strip.devices(strip.strip(graph_def)))


class VerifyTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.before = graphs.functional_loop()
    self.after = annotate.annotate(
      self.before, dict.fromkeys(_all_paths(self.before), _DEVICES[0])
    )

  def test_an_annotated_graph_passes(self):
    verify.verify(self.before, self.after, legal_devices=_DEVICES)

  def test_each_kind_of_damage_is_found(self):
    body = self.after.library.function[0].node_def[0]
    for damage, message in (
        (lambda g: g.node.pop(), 'nodes and now has'),
        (lambda g: setattr(g.node[0], 'name', 'other'), 'became'),
        (lambda g: g.node[-1].input.append('^x'), 'inputs of'),
        (lambda g: g.node[0].attr['extra'].MergeFrom(
            g.node[0].attr['dtype']), 'attributes of'),
        (lambda g: setattr(g.node[0], 'device', '/cpu:9'), 'is on'),
        (lambda g: g.library.function.pop(), 'lost'),
    ):  # fmt: skip
      damaged = graph_pb2.GraphDef()
      damaged.CopyFrom(self.after)
      damage(damaged)
      with self.assertRaisesRegex(errors.PlacerError, message):
        verify.verify(self.before, damaged, legal_devices=_DEVICES)
    body.device = '/cpu:9'
    with self.assertRaisesRegex(errors.PlacerError, 'function'):
      verify.verify(self.before, self.after, legal_devices=_DEVICES)

  def test_colocation_has_to_be_kept(self):
    graph_def = graphs.chain('square')
    graph_def.node[1].attr['_class'].list.s.append(b'loc:@x')
    placed = annotate.annotate(
      graph_def, {'x': _DEVICES[0], 'square': _DEVICES[1]}
    )
    with self.assertRaisesRegex(errors.PlacerError, 'must be with'):
      verify.verify(graph_def, placed)


if __name__ == '__main__':
  absltest.main()
