from absl.testing import absltest
from absl.testing import parameterized
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2

from placer.measurers import partitions

_A = '/job:worker/replica:0/task:0/device:CPU:0'
_B = '/job:worker/replica:0/task:1/device:CPU:0'


def _partition(*nodes: tuple[str, str, str, str]) -> graph_pb2.GraphDef:
  graph_def = graph_pb2.GraphDef()
  for name, op, device, inputs in nodes:
    graph_def.node.add(name=name, op=op, device=device, input=inputs.split())
  return graph_def


class PartitionsTest(parameterized.TestCase):
  @parameterized.parameters(
    ('a/b', 'a/b'),
    ('loop@body/add', 'loop/body/add'),
    ('loop@body/if@then_branch/x', 'loop/body/if/then/x'),
    ('if@else_branch/x', 'if/else/x'),
    ('case@branches.1/x', 'case/branch1/x'),
    ('call@f/x', 'call/x'),
  )
  def test_lowered_name(self, path, expected):
    self.assertEqual(partitions.lowered_name(path), expected)

  def test_reads_devices_removed_and_moved(self):
    metadata = config_pb2.RunMetadata(
      partition_graphs=[
        _partition(('a', 'Square', _A, ''), ('a/_1', '_Send', _A, 'a')),
        _partition(
          ('a/_2', '_Recv', _B, ''),
          ('a/_3', 'Identity', _B, 'a/_2'),
          ('b', 'Exp', _B, 'a/_3'),
          ('loop/body/_7/add', 'Add', _B, ''),
          ('kernel', 'StatelessWhile', _B, ''),
        ),
      ]
    )
    read = partitions.read(
      metadata,
      {
        'a': _A,
        'b': _A,
        'gone': _B,
        'loop@body/add': _B,
        'loop@body/gone': _B,
        'kernel@body/unseen': _B,
      },
      shared_allocator=False,
    )
    self.assertEqual(read.actual_devices['a'], _A)
    self.assertEqual(read.actual_devices['loop@body/add'], _B)
    self.assertEqual(read.moved_ops, ('b',))
    self.assertEqual(read.removed_ops, 2)

  def test_the_hash_forgets_order_and_numbers(self):
    one = [_partition(('a', 'X', _A, ''), ('a/_1', '_Send', _A, 'a'))]
    two = [_partition(('a/_9', '_Send', _A, 'a'), ('a', 'X', _A, ''))]
    self.assertEqual(
      partitions.partition_hash(one), partitions.partition_hash(two)
    )
    for other in (
      [_partition(('a', 'X', _B, ''), ('a/_1', '_Send', _A, 'a'))],
      [_partition(('a', 'Y', _A, ''), ('a/_1', '_Send', _A, 'a'))],
      [_partition(('a', 'X', _A, ''), ('a/_1', '_Send', _A, 'a:1'))],
      [_partition(('a', 'X', _A, ''))],
    ):
      self.assertNotEqual(
        partitions.partition_hash(one), partitions.partition_hash(other)
      )


if __name__ == '__main__':
  absltest.main()
