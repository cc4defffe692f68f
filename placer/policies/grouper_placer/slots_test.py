"""Slots: classes, legality of every grouping, and placements explained."""

import hypothesis
import numpy as np
from absl.testing import absltest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from placer.policies.grouper_placer import slots


@st.composite
def _allowed(draw) -> np.ndarray:
  groups = draw(st.integers(1, 12))
  devices = draw(st.integers(1, 4))
  allowed = draw(hnp.arrays(bool, (groups, devices)))
  allowed[:, 0] |= ~allowed.any(axis=1)
  return allowed


class SlotsTest(absltest.TestCase):
  def test_slots_are_shared_out_by_the_number_of_groups(self):
    allowed = np.ones((12, 2), bool)
    allowed[:3, 1] = False
    made = slots.make(allowed, 4)
    self.assertEqual(made.slot_of_class.shape, (12, 4))
    np.testing.assert_array_equal(
      made.slot_of_class.sum(axis=1), [1] * 3 + [3] * 9
    )
    np.testing.assert_array_equal(made.legal.sum(axis=1), [1, 2, 2, 2])

  def test_no_grouping_is_illegal(self):
    @hypothesis.given(_allowed(), st.integers(1, 8), st.randoms())
    @hypothesis.settings(deadline=None, derandomize=True)
    def check(allowed, most, random):
      made = slots.make(allowed, most)
      self.assertTrue(made.slot_of_class.any(axis=1).all())
      for group, row in enumerate(made.slot_of_class):
        slot = random.choice(np.flatnonzero(row).tolist())
        device = random.choice(np.flatnonzero(made.legal[slot]).tolist())
        self.assertTrue(allowed[group, device])

    check()

  def test_every_placement_can_be_made(self):
    @hypothesis.given(_allowed(), st.integers(1, 8), st.randoms())
    @hypothesis.settings(deadline=None, derandomize=True)
    def check(allowed, most, random):
      candidate = np.array(
        [random.choice(np.flatnonzero(row).tolist()) for row in allowed],
        np.int32,
      )
      made = slots.make(allowed, most)
      grouping, devices = made.explain(candidate)
      groups = np.arange(len(allowed))
      self.assertTrue(made.slot_of_class[groups, grouping].all())
      self.assertTrue(made.legal[np.arange(len(devices)), devices].all())
      np.testing.assert_array_equal(devices[grouping], candidate)

    check()


if __name__ == '__main__':
  absltest.main()
