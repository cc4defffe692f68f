"""What annealing accepts, and how hot it is (Metropolis et al., 1953)."""

import numpy as np


def temperature(hot: float, cold: float, part: float) -> float:
  """Falls from `hot` at part 0 to `cold` at part 1, geometrically."""
  return hot * (cold / hot) ** part


def accepted(
  proposed: np.ndarray,
  current: np.ndarray,
  heat: float,
  rng: np.random.Generator,
) -> np.ndarray:
  """Which moves are made.

  Args:
    proposed: float `[B]`, scores after them, lower is better; may be inf.
    current: float `[B]`, scores before them.
    heat: the temperature, in the unit of scores, positive.
    rng: of the draws.

  Returns:
    bool `[B]`: all that are not worse; those worse by x with the probability
    exp(-x / heat).
  """
  with np.errstate(invalid='ignore'):
    worse = np.maximum(proposed - current, 0) / heat
  found = rng.random(len(proposed)) < np.exp(-worse)
  return found | (proposed <= current)
