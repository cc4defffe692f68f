from absl.testing import absltest

from benchmarks import hook_overhead
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()


class HookOverheadTest(absltest.TestCase):
  def test_twins_compute_the_same_on_the_same_devices(self):
    for case in hook_overhead.cases():
      placed = hook_overhead.placed(case)
      if 'training' not in case.name:  # its variables change
        placed_pairs.assert_close(case.function(*case.args), placed(*case.args))
    placed_pairs.assert_as_requested(placed, *case.args)

  def test_measures(self):
    row = hook_overhead.measure(hook_overhead.cases()[0], 6, 1e-3)
    self.assertGreater(row.original, 0)
    self.assertIn('| add one (one op) | ', hook_overhead.table([row]))
    slow = hook_overhead.Row('slow', 1e-3, 2e-3, 2.0, (1.9, 2.1))
    self.assertFalse(slow.within_bar)


if __name__ == '__main__':
  absltest.main()
