import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import step_profile


def _profile() -> step_profile.StepProfile:
  return step_profile.StepProfile(
    op_seconds=np.array([0.5, 0.0]),
    op_runs=np.array([3, 0]),
    temporary_bytes=np.array([64, 0]),
    tensor_bytes=np.array([8, -1, 4]),
    shares_tensor=np.array([-1, -1, 0], np.int32),
    persistent_bytes=96,
    step_seconds=0.25,
  )


class StepProfileTest(absltest.TestCase):
  def test_of_its_own_arrays_is_the_same(self):
    profile = _profile()
    again = step_profile.StepProfile.of(profile.arrays())
    for field in dataclasses.fields(profile):
      np.testing.assert_array_equal(
        getattr(again, field.name), getattr(profile, field.name)
      )
    self.assertIsInstance(again.step_seconds, float)
    self.assertIsInstance(again.persistent_bytes, int)

  def test_a_missing_array_is_named(self):
    arrays = _profile().arrays()
    del arrays['op_runs']
    with self.assertRaisesRegex(KeyError, 'op_runs'):
      step_profile.StepProfile.of(arrays)

  def test_invariants(self):
    for changes, message in (
      (
        {'op_runs': np.zeros(3, int)},
        r'op_runs has shape \(3,\), needs \(2,\)',
      ),
      ({'shares_tensor': np.zeros(2, int)}, 'shares_tensor has shape'),
      ({'op_seconds': np.array([-1.0, 0.0])}, 'op_seconds has the value -1'),
      ({'op_seconds': np.array([np.nan, 0.0])}, 'op_seconds has the value nan'),
      ({'tensor_bytes': np.array([0, -2, 0])}, 'tensor_bytes has the value -2'),
      ({'step_seconds': 0.0}, 'step_seconds is 0.0'),
      ({'step_seconds': np.nan}, 'step_seconds is nan'),
    ):
      with self.assertRaisesRegex(ValueError, message):
        dataclasses.replace(_profile(), **changes)


if __name__ == '__main__':
  absltest.main()
