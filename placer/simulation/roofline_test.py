import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import errors
from placer.simulation import device_description
from placer.simulation import roofline
from placer.simulation import simulated_devices
from placer.simulation import simulator
from placer.testing import problems

_DEVICE = device_description.DeviceDescription(
  name='mine',
  device_type='GPU',
  flops_per_second={'float32': 100.0, 'float16': 200.0},
  memory_bytes_per_second=10.0,
  efficiency=0.5,
  op_overhead_seconds=1.0,
)


def _graph(**changes):
  """a -> b -> c, and b reads a twice."""
  problem = problems.build(
    list('abc'),
    [(0, 1), (0, 1), (1, 2)],
    flops=[0, 1000, 0],
    tensor_bytes=[50, 100, 200],
    devices=simulated_devices.parse('simulated:k80x2').topology(),
  )
  return dataclasses.replace(
    problem, graph=dataclasses.replace(problem.graph, **changes)
  )


class RooflineTest(absltest.TestCase):
  def test_the_slower_of_arithmetic_and_memory(self):
    # a has no input. b touches 150 bytes: 15 s; 1000 flops: 10 s. c: 300.
    found = roofline.roofline(_graph().graph, _DEVICE)
    np.testing.assert_allclose(found, [0, 31, 61])
    graph = _graph(flops=np.array([0.0, 2000.0, 0.0])).graph
    np.testing.assert_allclose(roofline.roofline(graph, _DEVICE), [0, 41, 61])
    np.testing.assert_allclose(
      roofline.roofline(graph, _DEVICE, 'float16'), [0, 31, 61]
    )

  def test_ops_that_move_nothing_take_nothing(self):
    graph = _graph(types=('Const', 'Conv2D', 'Reshape')).graph
    np.testing.assert_allclose(roofline.roofline(graph, _DEVICE), [0, 31, 0])

  def test_unknown_dtype(self):
    with self.assertRaisesRegex(errors.UsageError, 'int8. It has: float32'):
      roofline.roofline(_graph().graph, _DEVICE, 'int8')

  def test_cost_model(self):
    problem = _graph()
    costs = roofline.cost_model_of(problem.graph, problem.devices)
    np.testing.assert_array_equal(costs.gap_seconds[:, 0], [0, 5.7e-6, 5.7e-6])
    np.testing.assert_array_equal(costs.memory_bytes, [10_700_000_000] * 2)
    found = simulator.schedule(problem, costs, [0, 0, 1])
    # 25 us and 100 bytes at 7.6 GB/s.
    self.assertAlmostEqual(
      found.transfer_end_seconds[0] - found.transfer_start_seconds[0],
      25e-6 + 100 / 7.6e9,
      delta=1e-12,
    )

  def test_real_devices_are_refused(self):
    problem = problems.chain()
    with self.assertRaisesRegex(errors.UsageError, 'no simulated devices'):
      roofline.cost_model_of(problem.graph, problem.devices)


if __name__ == '__main__':
  absltest.main()
