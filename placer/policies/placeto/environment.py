"""Environment: Placeto's decision process (section 2.1), many episodes at once.

Letters: `B` episodes, `G` groups, `D` devices, `T` steps of an episode.

An episode begins with a placement s_0 and an *order*, the groups that become
the current one in turn. At step t an action gives order[t] a device; the rest
of the placement stays. A *sweep* visits each group once. An episode has
`sweeps` of them, T = sweeps * G; what was visited is forgotten between two.

`State`, all arrays of B episodes:
  placement: int32 `[B, G]`.
  visited: bool `[B, G]`, in this sweep.
  order: int32 `[B, T]`.
  step: int, the same of all episodes; T at the end.

Rewards are the improvements of the step time,

    r_t = R(s_t) - R(s_{t+1})

positive when a step gets faster; they add up to R(s_0) - R(s_T). (The paper
prints the opposite sign, which would reward getting slower; its released code
has this one.) With `terminal_only` the last step gets that sum, all others 0:
the same return, later.

What is rewarded does not decide where an episode goes, so R is not computed
step by step: `rewards` takes whole episodes and simulates all their different
placements in one call of the simulator. A step that leaves the current group
where it is gives the same placement and costs nothing.
"""

import dataclasses

import numpy as np

from placer.policies.placeto import objective as objective_lib

ORDERS = ('topological', 'reverse', 'random', 'cost')


@dataclasses.dataclass(frozen=True, eq=False)
class State:
  """B episodes under way; see the module docstring."""

  placement: np.ndarray
  visited: np.ndarray
  order: np.ndarray
  step: int

  @property
  def is_last(self) -> bool:
    """Whether the episodes are over."""
    return self.step == self.order.shape[1]

  @property
  def current(self) -> np.ndarray:
    """int32 `[B]`: the group that an action decides on; not at the end."""
    return self.order[:, self.step]


class Environment:
  """Episodes of one problem; see the module docstring.

  Attributes:
    objective: R.
    allowed: bool `[G, D]`, the legal actions of each group.
    sweeps: how often an episode visits each group.
    terminal_only: whether only the last step is rewarded.
  """

  def __init__(
    self,
    objective: objective_lib.Objective,
    allowed: np.ndarray | None = None,
    *,
    sweeps: int = 1,
    terminal_only: bool = False,
  ) -> None:
    """Makes an environment.

    Args:
      objective: R.
      allowed: bool `[G, D]`; None for what the problem says.
      sweeps: how often an episode visits each group.
      terminal_only: whether only the last step is rewarded.
    """
    self.objective = objective
    self.allowed = objective.problem.allowed if allowed is None else allowed
    self.sweeps = sweeps
    self.terminal_only = terminal_only

  @property
  def num_groups(self) -> int:
    """G."""
    return len(self.allowed)

  def orders(
    self, kind: str, count: int, rng: np.random.Generator
  ) -> np.ndarray:
    """Traversal orders.

    Args:
      kind: one of `ORDERS`: as the groups are numbered, which is
        topological; the other way round; random; costliest first.
      count: B.
      rng: of the random ones, which differ between episodes and sweeps.

    Returns:
      int32 `[B, T]`.

    Raises:
      ValueError: there is no such kind.
    """
    groups, shape = self.num_groups, (count, self.sweeps)
    if kind == 'random':
      order = rng.permuted(np.tile(np.arange(groups), (*shape, 1)), axis=-1)
    elif kind in ORDERS:
      order = np.arange(groups)
      if kind == 'reverse':
        order = order[::-1]
      elif kind == 'cost':
        order = np.argsort(-self._group_seconds(), kind='stable')
      order = np.broadcast_to(order, (*shape, groups))
    else:
      raise ValueError(f'Unknown order {kind!r}; there are {ORDERS}.')
    return order.reshape(count, -1).astype(np.int32)

  def reset(self, start: np.ndarray, order: np.ndarray) -> State:
    """Begins B episodes.

    Args:
      start: int `[B, G]`, legal.
      order: int `[B, T]`.

    Returns:
      The State of step 0.

    Raises:
      ValueError: shapes do not fit, a start is not legal, or a sweep does not
        visit each group once.
    """
    start = np.array(start, np.int32)
    order = np.array(order, np.int32)
    groups = self.num_groups
    if start.shape != (len(start), groups) or order.shape != (
      len(start),
      self.sweeps * groups,
    ):
      raise ValueError(
        f'start has shape {start.shape} and order {order.shape}; they need '
        f'[B, {groups}] and [B, {self.sweeps * groups}].'
      )
    if not self.allowed[np.arange(groups), start].all():
      raise ValueError('A start puts a group where it may not be.')
    sweeps = np.sort(order.reshape(len(start), self.sweeps, groups), axis=-1)
    if not (sweeps == np.arange(groups)).all():
      raise ValueError('Each sweep of an order has to visit each group once.')
    return State(start, np.zeros(start.shape, bool), order, 0)

  def step(self, state: State, actions: np.ndarray) -> State:
    """Moves the current groups.

    Args:
      state: not at the end.
      actions: int `[B]`, a device for the current group of each episode.

    Returns:
      The next State; `state` is not changed.

    Raises:
      ValueError: the episodes are over, or an action is not legal.
    """
    if state.is_last:
      raise ValueError(f'The episodes ended after {state.step} steps.')
    current, rows = state.current, np.arange(len(state.placement))
    if not self.allowed[current, actions].all():
      raise ValueError('An action puts a group where it may not be.')
    placement, visited = state.placement.copy(), state.visited.copy()
    if state.step % self.num_groups == 0:
      visited[:] = False
    placement[rows, current] = actions
    visited[rows, current] = True
    return State(placement, visited, state.order, state.step + 1)

  def rewards(
    self, start: np.ndarray, order: np.ndarray, actions: np.ndarray
  ) -> tuple[np.ndarray, np.ndarray]:
    """The rewards of B whole episodes.

    Args:
      start: int `[B, G]`, s_0.
      order: int `[B, T]`.
      actions: int `[B, T]`.

    Returns:
      (rewards float64 `[B, T]`, R of all states float64 `[B, T + 1]`).
    """
    states = placements(start, order, actions)
    is_new = changes(states)
    values = self.objective.seconds(states[is_new])
    seconds = of_all_states(values, is_new)
    return self.rewards_of(seconds), seconds

  def rewards_of(self, seconds: np.ndarray) -> np.ndarray:
    """The rewards of B whole episodes, from R of their states.

    Args:
      seconds: float `[B, T + 1]`.

    Returns:
      float64 `[B, T]`.
    """
    rewards = seconds[:, :-1] - seconds[:, 1:]
    if self.terminal_only:
      rewards = np.zeros_like(rewards)
      rewards[:, -1:] = seconds[:, :1] - seconds[:, -1:]
    return rewards

  def _group_seconds(self) -> np.ndarray:
    """float64 `[G]`: the time of each group on its fastest device."""
    fastest = self.objective.costs.op_seconds.min(axis=1, initial=np.inf)
    return np.bincount(
      self.objective.problem.op_group, fastest, minlength=self.num_groups
    )


def placements(
  start: np.ndarray, order: np.ndarray, actions: np.ndarray
) -> np.ndarray:
  """All states of B episodes.

  Args:
    start: int `[B, G]`.
    order: int `[B, T]`.
    actions: int `[B, T]`.

  Returns:
    int32 `[B, T + 1, G]`.
  """
  count, steps = order.shape
  states = np.empty((count, steps + 1, start.shape[1]), np.int32)
  states[:, 0] = start
  rows = np.arange(count)
  for t in range(steps):
    states[:, t + 1] = states[:, t]
    states[rows, t + 1, order[:, t]] = actions[:, t]
  return states


def changes(states: np.ndarray, every: int = 1) -> np.ndarray:
  """The states that have to be simulated.

  Args:
    states: int `[B, T + 1, G]`, of `placements`.
    every: only each so many-th state counts, and the last; 0 for the first and
      the last.

  Returns:
    bool `[B, T + 1]`: the first states, and of those that count the ones that
    differ from the one before that counts.
  """
  last = states.shape[1] - 1
  kept = np.arange(0, last + 1, every or max(last, 1))
  kept = np.unique(np.append(kept, last))
  is_new = np.zeros(states.shape[:2], bool)
  is_new[:, 0] = True
  differs = states[:, kept[1:]] != states[:, kept[:-1]]
  is_new[:, kept[1:]] = differs.any(axis=2)
  return is_new


def of_all_states(values: np.ndarray, is_new: np.ndarray) -> np.ndarray:
  """R of all states from R of those that `changes` found.

  A state that does not count has R of the one before it that does, so that the
  rewards of several steps come with the last of them.

  Args:
    values: float `[K]`, in the order of `states[is_new]`.
    is_new: bool `[B, T + 1]`, K of them True.

  Returns:
    float64 `[B, T + 1]`.
  """
  return values[np.cumsum(is_new.reshape(-1)) - 1].reshape(is_new.shape)
