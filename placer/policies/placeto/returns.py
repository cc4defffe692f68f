"""Returns and advantages of episodes; numpy.

Letters: `B` episodes of one graph, `T` steps.
"""

import numpy as np


def to_go(rewards: np.ndarray, discount: float) -> np.ndarray:
  """Discounted rewards from each step to the end.

  Args:
    rewards: float `[B, T]`.
    discount: 0 … 1; 1 gives R(s_t) - R(s_T).

  Returns:
    float64 `[B, T]`.
  """
  result = np.zeros(rewards.shape)
  later = np.zeros(len(rewards))
  for t in reversed(range(rewards.shape[1])):
    later = rewards[:, t] + discount * later
    result[:, t] = later
  return result


def among_equals(returns: np.ndarray) -> np.ndarray:
  """Advantages over the other episodes with the same start and order.

  Each return less the mean of the others at that step, divided by the standard
  deviation of all, so that graphs of all kinds weigh alike.

  Args:
    returns: float `[B, T]`.

  Returns:
    float64 `[B, T]`; 0 where there is one episode, or all are alike.
  """
  count = len(returns)
  if count < 2:
    return np.zeros(returns.shape)
  difference = (returns - returns.mean(axis=0)) * count / (count - 1)
  deviation = np.sqrt(np.mean(difference**2))
  return difference / deviation if deviation > 1e-9 else difference * 0
