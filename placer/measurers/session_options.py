"""SessionOptions: how a SessionMeasurer measures."""

import dataclasses
from collections.abc import Mapping

import numpy as np

# A placement's setup may take so many times as long as the slowest so far.
_SETUP_SPREAD = 5.0


@dataclasses.dataclass(frozen=True)
class SessionOptions:
  """How a SessionMeasurer measures.

  Attributes:
    steps: timed steps of a candidate where `measure` is not told.
    warm_up_steps: at most so many steps after the first, before timing.
    step_timeout_seconds: one step may take so long.
    setup_timeout_seconds: import, set-up and the first step may take so long.
    allow_side_effects: names of ops that reach outside the process and may
      run nevertheless; '*' for all.
    feeds_file: .npz with the inputs' values; '' to make them from the seed.
    feed_values: the inputs' values by feed name or tensor, instead of a file.
    seed: of made inputs and of random ops that have no seed of their own.
    work_dir: folder for log files; '' for a temporary one.
    allow_exposed_workers: run local workers also where the kernel forbids a
      network namespace, so that they obey anyone who reaches them.
  """

  steps: int = 5
  warm_up_steps: int = 5
  step_timeout_seconds: float = 60.0
  setup_timeout_seconds: float = 300.0
  allow_side_effects: tuple[str, ...] = ()
  feeds_file: str = ''
  feed_values: Mapping[str, np.ndarray] | None = None
  seed: int = 0
  work_dir: str = ''
  allow_exposed_workers: bool = False

  def timeouts(
    self, slowest_setup_seconds: float | None, retry_seconds: float
  ) -> dict[str, float]:
    """How long each phase of a lane may take.

    TensorFlow optimises and partitions within the first step. How long that
    takes is known once a candidate has run; a step that never ends then costs
    less than the whole time for setting up.

    Args:
      slowest_setup_seconds: of the candidates so far; None before the first.
      retry_seconds: that a failed allocation waits for memory.

    Returns:
      {phase: seconds}.
    """
    first = self.setup_timeout_seconds
    if slowest_setup_seconds is not None:
      first = min(first, _SETUP_SPREAD * slowest_setup_seconds)
    return {
      'start': self.setup_timeout_seconds,
      'setup': self.setup_timeout_seconds + retry_seconds,
      'first step': first + self.step_timeout_seconds + retry_seconds,
      'step': self.step_timeout_seconds + retry_seconds,
    }
