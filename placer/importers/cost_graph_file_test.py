import numpy as np
from absl.testing import absltest

from placer.importers import cost_graph_file
from placer.testing import graphs
from placer.testing import shared_inputs


class OtherFilesTest(absltest.TestCase):
  def test_what_is_no_cost_graph_is_none(self):
    graph = graphs.fork_join()
    for content in (b'', b'{}', graph.SerializeToString(), str(graph).encode()):
      path = self.create_tempfile(content=content, mode='wb').full_path
      self.assertIsNone(cost_graph_file.read(path))
    self.assertIsNone(cost_graph_file.read('/nowhere'))
    self.assertIsNone(cost_graph_file.read(self.create_tempdir().full_path))


class SharedWorkloadsTest(absltest.TestCase):
  def test_reads_each(self):
    folder = shared_inputs.workloads()
    # Ops, edges, colours, and milliseconds on an accelerator.
    for path, expected in {
      'dnn_partitioning/LayerGraphs_bert24_inference.json': (32, 55, 32, 92.4),
      'dnn_partitioning/OperatorGraphs_bert_l-3_inference.json': (
        235, 250, 128, 49.4,
      ),
      'dnn_partitioning/throughput_LayerGraphs_gnmt_training.json': (
        192, 244, 96, 520.5,
      ),
      'pipedream/gnmt.txt': (96, 222, 48, 89.4),
      'pipedream/nasnetamobile.txt': (1842, 4155, 921, 599.8),
    }.items():  # fmt: skip
      with self.subTest(path):
        found = cost_graph_file.read(folder / path)
        self.assertEqual(found.kind, path.partition('/')[0])
        self.assertEqual(
          (
            len(found.graph),
            len(found.graph.edge_source),
            len(np.unique(found.colour)),
            round(float(found.accelerator_seconds.sum() * 1e3), 1),
          ),
          expected,
        )


if __name__ == '__main__':
  absltest.main()
