"""SessionOptions: how a SessionMeasurer measures."""

import dataclasses
from collections.abc import Mapping

import numpy as np


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
