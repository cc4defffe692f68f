import json

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.importers import dnn_partitioning


def _node(number, **changes):
  node = {
    'id': number,
    'name': f'n{number}',
    'fpgaLatency': 2.0,
    'cpuLatency': 20.0,
    'size': 1000.0,
    'supportedOnFpga': 1,
    'colorClass': number,
  }
  return node | changes


def _edge(source, target, **changes):
  return {'sourceId': source, 'destId': target, 'cost': 1.5} | changes


def _load(nodes, edges, **others):
  payload = {'nodes': nodes, 'edges': edges, **others}
  return dnn_partitioning.load(json.dumps(payload), 'f.json')


class DnnPartitioningTest(parameterized.TestCase):
  def test_reads_nodes_in_topological_order(self):
    found = _load(
      [_node(7, fpgaLatency=3), _node(3, supportedOnFpga=False)],
      [_edge(3, 7, size=4096.0)],
      maxFPGAs=2,
      maxSizePerFPGA=5000.0,
      maxCPUs=1,
    )
    self.assertEqual(found.graph.names, ('n3', 'n7'))
    np.testing.assert_allclose(found.accelerator_seconds, [0.002, 0.003])
    np.testing.assert_allclose(found.cpu_seconds, [0.02, 0.02])
    np.testing.assert_array_equal(found.on_accelerator, [False, True])
    np.testing.assert_array_equal(found.graph.persistent_bytes, [1000, 1000])
    np.testing.assert_array_equal(found.graph.tensor_bytes, [4096, 0])
    np.testing.assert_allclose(found.own.transfer_seconds, [0.0015, 0])
    self.assertEqual(found.own.accelerators, 2)
    self.assertEqual(found.own.accelerator_bytes, 5000)
    self.assertEqual(found.own.cpus, 1)
    self.assertTrue(found.keeps_outputs)

  def test_bytes_follow_from_the_cost_where_there_are_none(self):
    found = _load([_node(0), _node(1)], [_edge(0, 1)])
    self.assertEqual(found.graph.tensor_bytes[0], round(0.0015 * 2**31))
    self.assertIsNone(found.own)

  def test_colours(self):
    nodes = [
      _node(0, colorClass=5),
      _node(1, colorClass=2),
      _node(2, colorClass=5),
      _node(3),
      _node(4),
    ]
    del nodes[3]['colorClass'], nodes[4]['colorClass']
    np.testing.assert_array_equal(_load(nodes, []).colour, [0, 1, 0, 2, 3])

  @parameterized.parameters(
    ([_node(0), _node(0)], [], 'same id'),
    ([_node(0)], [_edge(0, 1)], 'no node'),
    ([_node(0, fpgaLatency=-1)], [], 'fpgaLatency'),
    ([_node(0, cpuLatency='x')], [], 'cpuLatency'),
    ([_node(0), _node(1)], [_edge(0, 1), _edge(1, 0)], 'cycle'),
    ([3], [], 'object'),
  )
  def test_mistakes_are_told(self, nodes, edges, text):
    with self.assertRaisesRegex(errors.GraphImportError, text):
      _load(nodes, edges)

  def test_is_told_by_content(self):
    text = json.dumps({'nodes': [_node(0)], 'edges': []})
    self.assertTrue(dnn_partitioning.matches('\n ' + text))
    self.assertFalse(dnn_partitioning.matches('{"nodes": [], "edges": []}'))
    with self.assertRaisesRegex(errors.GraphImportError, 'not JSON'):
      dnn_partitioning.load(text[:-2], 'f.json')


if __name__ == '__main__':
  absltest.main()
