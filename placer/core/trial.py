"""Trial: one candidate that was tried, and what came of it.

index: 0, 1, 2 … in the order of measuring.
policy: the name of the policy that suggested it.
candidate: int32 `[G]`, the device of each group.
measurement: the Measurement.
elapsed_seconds: time since the search began, over all its resumed runs.
label: for people: 'single_device /job:worker/task:0', 'layers' or ''.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from placer.core import measurement as measurement_lib

# In a measurement's details: the index of the trial whose placement its
# reference steps ran.
REFERENCE_KEY = 'reference_trial'


@dataclasses.dataclass(frozen=True, eq=False)
class Trial:
  """One candidate and its measurement; see the module docstring."""

  index: int
  policy: str
  candidate: np.ndarray
  measurement: measurement_lib.Measurement
  elapsed_seconds: float = 0.0
  label: str = ''

  def to_json(self) -> dict[str, Any]:
    """A dict for one line of `trials.jsonl`."""
    return {
      'index': self.index,
      'policy': self.policy,
      'label': self.label,
      'elapsed_seconds': round(self.elapsed_seconds, 3),
      'candidate': [int(device) for device in self.candidate],
      'measurement': self.measurement.to_json(),
    }


def from_json(payload: Mapping[str, Any]) -> Trial:
  """The inverse of `Trial.to_json`.

  Args:
    payload: one decoded line of `trials.jsonl`.

  Returns:
    The Trial.
  """
  return Trial(
    index=payload['index'],
    policy=payload['policy'],
    candidate=np.asarray(payload['candidate'], np.int32),
    measurement=measurement_lib.from_json(payload['measurement']),
    elapsed_seconds=payload['elapsed_seconds'],
    label=payload.get('label', ''),
  )
