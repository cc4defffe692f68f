"""Schedules: how a learning rate or an entropy weight changes with the steps.

    schedule(step) -> float

`step` counts updates from 0. After `steps` a schedule stays at `end`.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Constant:
  """The same at every step.

  Attributes:
    value: what it is.
  """

  value: float

  def __call__(self, step: int) -> float:
    del step
    return self.value


@dataclasses.dataclass(frozen=True)
class Linear:
  """On a straight line from `start` to `end`.

  Attributes:
    start: at step 0.
    end: from step `steps` on.
    steps: at least 1.
  """

  start: float
  end: float
  steps: int

  def __call__(self, step: int) -> float:
    part = min(step / self.steps, 1.0)
    return self.start + part * (self.end - self.start)


@dataclasses.dataclass(frozen=True)
class Exponential:
  """By the same factor each step, from `start` to `end`.

  Attributes:
    start: at step 0, positive.
    end: from step `steps` on, positive.
    steps: at least 1.
  """

  start: float
  end: float
  steps: int

  def __call__(self, step: int) -> float:
    part = min(step / self.steps, 1.0)
    return self.start * (self.end / self.start) ** part


Schedule = Constant | Linear | Exponential
