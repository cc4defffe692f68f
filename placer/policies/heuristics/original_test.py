import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.policies.heuristics import original
from placer.testing import problems


def _policy(texts, **options):
  options.setdefault('devices', problems.topology(2, gpus=2))
  problem = problems.chain(len(texts), original_devices=texts, **options)
  return original.Original(problem)


class OriginalTest(parameterized.TestCase):
  @parameterized.parameters(
    ('/job:worker/task:1', 1),
    ('/job:worker/replica:0/task:1/device:CPU:0', 1),
    ('/device:GPU:0', 2),
    ('/gpu:1', 3),
    ('GPU:1', 3),
    # Open parts match anything; the first match is meant.
    ('/cpu:0', 0),
    ('/device:GPU:*', 2),
  )
  def test_forms(self, text, device):
    policy = _policy([text, '/job:worker/task:1'])
    (found,) = policy.suggest(3)
    np.testing.assert_array_equal(found.candidate, [device, 1])
    self.assertEmpty(policy.note)
    self.assertEmpty(policy.suggest(1))

  def test_ops_without_annotation_follow_their_group(self):
    policy = _policy(
      ['', '/gpu:0', '/gpu:0', '/gpu:1', ''], op_group=[0, 0, 0, 0, 1]
    )
    (found,) = policy.suggest(1)
    np.testing.assert_array_equal(found.candidate, [2, 0])

  def test_only_where_it_may_be(self):
    allowed = np.ones((2, 4), bool)
    allowed[0, 2] = False
    (found,) = _policy(['/gpu:0', '/gpu:0'], allowed=allowed).suggest(1)
    np.testing.assert_array_equal(found.candidate, [0, 2])

  def test_nothing_and_a_note_when_no_device_exists(self):
    policy = _policy(['/job:ps/task:1', '/gpu:7', 'not a device!'])
    self.assertEmpty(policy.suggest(1))
    self.assertRegex(
      policy.note, 'All devices.*not among --devices=local:2: /gpu:7, /job:ps'
    )

  def test_note_names_the_missing_ones(self):
    policy = _policy(['/gpu:0', '/gpu:7'])
    self.assertLen(policy.suggest(1), 1)
    self.assertRegex(policy.note, r'^Some devices .*: /gpu:7\.$')

  def test_nothing_without_annotations(self):
    policy = _policy(['', ''])
    self.assertEmpty(policy.suggest(1))
    self.assertEmpty(policy.note)


if __name__ == '__main__':
  absltest.main()
