import numpy as np
from absl.testing import absltest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from placer.core import op_graph
from placer.problems import coarsening


def _graph(count: int, edges: list[tuple[int, int]]) -> op_graph.OpGraph:
  edges = sorted({(a, b) for a, b in edges if a < b < count})
  source = np.array([a for a, _ in edges], np.int32)
  target = np.array([b for _, b in edges], np.int32)
  return op_graph.OpGraph(
    names=tuple(f'op{i}' for i in range(count)),
    types=tuple('Const' if i % 5 == 0 else 'MatMul' for i in range(count)),
    tensor_source=np.arange(count, dtype=np.int32),
    tensor_bytes=np.full(count, 4, np.int64),
    tensor_shape_known=np.ones(count, bool),
    edge_source=source,
    edge_target=target,
    edge_tensor=source.copy(),
    edge_is_back=np.zeros(len(edges), bool),
    flops=np.ones(count),
    persistent_bytes=np.zeros(count, np.int64),
    original_devices=('',) * count,
  )


@st.composite
def _cases(draw):
  count = draw(st.integers(1, 30))
  index = st.integers(0, count - 1)
  graph = _graph(count, draw(st.lists(st.tuples(index, index), max_size=60)))
  rng = np.random.default_rng(draw(st.integers(0, 1000)))
  allowed = rng.random((count, 2)) < 0.8
  allowed[~allowed.any(axis=1), 0] = True
  cost = rng.random(count) * (rng.random(count) < 0.7)
  return graph, allowed, cost, draw(st.integers(1, 10))


def _is_acyclic(groups: np.ndarray, graph: op_graph.OpGraph) -> bool:
  count = groups.max() + 1
  reach = np.zeros((count, count), bool)
  for a, b in zip(graph.edge_source, graph.edge_target, strict=True):
    if groups[a] != groups[b]:
      reach[groups[a], groups[b]] = True
  for middle in range(count):
    reach |= np.outer(reach[:, middle], reach[middle])
  return not reach.diagonal().any()


class CoarsenTest(absltest.TestCase):
  @settings(max_examples=200, deadline=None)
  @given(_cases())
  def test_groups_are_legal_and_acyclic(self, case):
    graph, allowed, cost, max_groups = case
    labels = np.arange(len(graph), dtype=np.int32)
    groups, rows = coarsening.coarsen(graph, labels, allowed, cost, max_groups)
    self.assertEqual(groups.shape, (len(graph),))
    # Numbered by first op, each number used.
    _, first = np.unique(groups, return_index=True)
    self.assertEqual(groups[np.sort(first)].tolist(), list(range(len(rows))))
    # A group may use what all its ops may use, and there is such a device.
    for group, row in enumerate(rows):
      np.testing.assert_array_equal(row, allowed[groups == group].all(axis=0))
      self.assertTrue(row.any())
    self.assertTrue(_is_acyclic(groups, graph))

  def test_without_constraints_the_number_is_reached(self):
    graph = _graph(30, [(i, i + 1) for i in range(29)])
    for max_groups in (1, 3, 7):
      groups, _ = coarsening.coarsen(
        graph,
        np.arange(30, dtype=np.int32),
        np.ones((30, 2), bool),
        np.ones(30),
        max_groups,
      )
      self.assertLessEqual(groups.max() + 1, max_groups)

  def test_hard_groups_are_never_split(self):
    graph = _graph(9, [(i, i + 1) for i in range(8)])
    labels = np.array([0, 1, 0, 2, 3, 2, 4, 5, 0], np.int32)
    groups, _ = coarsening.coarsen(
      graph, labels, np.ones((6, 2), bool), np.ones(9), 4
    )
    for label in range(6):
      self.assertLen(set(groups[labels == label]), 1)


if __name__ == '__main__':
  absltest.main()
