import numpy as np
from absl.testing import absltest

from placer.policies.heuristics import single_device
from placer.testing import problems


class SingleDeviceTest(absltest.TestCase):
  def test_each_device_in_turn(self):
    policy = single_device.SingleDevice(problems.chain(3, devices=3))
    first, second = policy.suggest(2)
    (third,) = policy.suggest(5)
    self.assertEmpty(policy.suggest(1))
    np.testing.assert_array_equal(first.candidate, [0, 0, 0])
    np.testing.assert_array_equal(second.candidate, [1, 1, 1])
    np.testing.assert_array_equal(third.candidate, [2, 2, 2])
    self.assertEqual(first.label, 'single_device /job:worker/task:0')

  def test_what_cannot_move_is_where_it_must_be(self):
    allowed = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 0, 0]], bool)
    problem = problems.chain(4, devices=3, allowed=allowed)
    found = single_device.suggestions(problem)
    # Of the devices of the rest, the one that most of it can share.
    np.testing.assert_array_equal(found[0].candidate, [1, 0, 0, 0])
    np.testing.assert_array_equal(found[1].candidate, [1, 0, 1, 0])
    np.testing.assert_array_equal(found[2].candidate, [2, 2, 0, 0])
    self.assertEndsWith(found[2].label, 'task:2 (+2 ops elsewhere)')

  def test_devices_that_nothing_can_use_are_left_out(self):
    allowed = np.array([[1, 0, 1], [1, 0, 1]], bool)
    problem = problems.chain(2, devices=3, allowed=allowed)
    self.assertLen(single_device.suggestions(problem), 2)

  def test_equal_candidates_are_suggested_once(self):
    allowed = np.array([[1, 0], [0, 1]], bool)
    found = single_device.suggestions(problems.chain(2, allowed=allowed))
    self.assertLen(found, 1)

  def test_labels_keep_the_device_where_tasks_have_several(self):
    problem = problems.chain(2, devices=problems.topology(2, gpus=1))
    self.assertEqual(
      [found.label for found in single_device.suggestions(problem)],
      [
        'single_device /task:0/device:CPU:0',
        'single_device /task:1/device:CPU:0',
        'single_device /task:0/device:GPU:0',
      ],
    )

  def test_label_of_an_only_device_is_its_name(self):
    (found,) = single_device.suggestions(problems.chain(2, devices=1))
    self.assertEqual(
      found.label, 'single_device /job:worker/task:0/device:CPU:0'
    )


if __name__ == '__main__':
  absltest.main()
