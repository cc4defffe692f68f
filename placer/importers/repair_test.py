from absl.testing import absltest
from tensorflow.core.framework import graph_pb2

from placer.core import errors
from placer.importers import repair
from placer.testing import graphs


class RepairTest(absltest.TestCase):
  def test_names_with_underscore_are_renamed_everywhere(self):
    graph_def = graphs.chain('square', 'exp')
    for node in graph_def.node:
      node.name = '_' + node.name
      for i, edge in enumerate(node.input):
        node.input[i] = '_' + edge
      node.attr['_class'].list.s.append(b'loc:@_x')
    before = graph_pb2.GraphDef.FromString(graph_def.SerializeToString())
    repaired, renamed, notes = repair.repair(graph_def)
    self.assertEqual(graph_def, before)
    self.assertEqual(set(renamed.values()), {'_x', '_square', '_exp'})
    new = {old: name for name, old in renamed.items()}
    by_name = {node.name: node for node in repaired.node}
    self.assertEqual(by_name[new['_exp']].input[0], new['_square'])
    self.assertEqual(
      by_name[new['_exp']].attr['_class'].list.s[0].decode(),
      f'loc:@{new["_x"]}',
    )
    self.assertRegex(' '.join(notes), 'Renamed 3 nodes')

  def test_all_missing_ops_are_listed_at_once(self):
    graph_def = graphs.chain('square', 'exp')
    graph_def.node[1].op = 'ZetaOp'
    graph_def.node[2].op = 'AlphaOp'
    with self.assertRaisesRegex(
      errors.GraphImportError, '2 op types.*AlphaOp.*ZetaOp.*--op_library'
    ):
      repair.repair(graph_def)

  def test_class_of_a_node_that_is_gone_is_dropped_with_a_note(self):
    graph_def = graphs.chain('square')
    graph_def.node[1].attr['_class'].list.s.extend([b'loc:@x', b'loc:@gone'])
    repaired, _, notes = repair.repair(graph_def)
    self.assertEqual(list(repaired.node[1].attr['_class'].list.s), [b'loc:@x'])
    self.assertRegex(' '.join(notes), 'gone')

  def test_attributes_of_a_newer_tensorflow_are_dropped(self):
    graph_def = graphs.chain('square')
    graph_def.node[1].attr['fancy_new_mode'].b = True
    graph_def.node[1].attr['_private'].b = True
    repaired, _, notes = repair.repair(graph_def)
    self.assertNotIn('fancy_new_mode', repaired.node[1].attr)
    self.assertIn('_private', repaired.node[1].attr)
    self.assertRegex(' '.join(notes), 'Square.fancy_new_mode')

  def test_duplicate_names(self):
    graph_def = graphs.chain('square')
    graph_def.node.add().CopyFrom(graph_def.node[0])
    with self.assertRaisesRegex(errors.GraphImportError, 'twice: x'):
      repair.repair(graph_def)


if __name__ == '__main__':
  absltest.main()
