"""PlacetoLearner: REINFORCE or PPO on episodes of many graphs.

A *round* is one update of the network from `graphs` graphs, the paper's
synchronous workers: their episodes are drawn together, padded to the same
shape, in one tf.function. Each graph is a proposal of its own, so the graphs of
a round are proposed and told one after the other; with the last one the network
learns from all. What is proposed of a graph are all states of its episodes that
differ from the one before; each counts as a sample.

On devices (`measured`) a state costs seconds, so only the last states of a few
episodes are proposed, and only the end is rewarded.

Letters: `M` graphs of a round, `B` episodes of each, `T` steps, `G` groups.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from placer.core import errors
from placer.core import placement_problem
from placer.policies.learning import baselines
from placer.policies.learning import learner
from placer.policies.learning import optimizer as optimizer_lib
from placer.policies.learning import rewards
from placer.policies.learning import schedules
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import environment
from placer.policies.placeto import gradient
from placer.policies.placeto import networks
from placer.policies.placeto import returns
from placer.policies.placeto import rounds
from placer.policies.placeto import sampling

_MOST_GROUPS = 1024
# So many rounds of few groups are quicker than tracing.
_ROUNDS_UNTRACED = 16
# Measured steps count as at most so many references.
_MOST_MEASURED = 10.0


class PlacetoLearner(learner.Learner):
  """Learns to improve placements; see the module docstring.

  Attributes:
    network: what decides.
    sample: draws its episodes, of `sampling.sampler`.
  """

  def __init__(
    self,
    problems: Sequence[placement_problem.PlacementProblem],
    config: config_lib.PlacetoConfig,
    seed: int,
    reference_seconds: Sequence[float],
  ) -> None:
    """Makes the network.

    Args:
      problems: P graphs, each with at least one group.
      config: the settings.
      seed: of weights and episodes.
      reference_seconds: P numbers, the unit of rewards.

    Raises:
      UsageError: a graph has too many groups.
    """
    self.reference_seconds = reference_seconds
    groups = max(problem.num_groups for problem in problems)
    if groups > _MOST_GROUPS:
      raise errors.UsageError(
        f'placeto learns graphs of at most {_MOST_GROUPS} groups, since it '
        f'looks at all pairs of them; this one has {groups}. Pass '
        f'--max_groups={_MOST_GROUPS} or less.'
      )
    self._traced_from = (
      0 if groups >= sampling.WORTH_TRACING else _ROUNDS_UNTRACED
    )
    self.network = networks.make(config, len(problems[0].devices), seed)
    self._config, self._seed = config, seed
    self._entropy = schedules.Linear(
      config.entropy_first, config.entropy_last, max(config.updates, 1)
    )
    self._optimizer = optimizer_lib.Optimizer(
      self.network.trainable_variables,
      schedules.Linear(
        config.learning_rate_first,
        config.learning_rate_last,
        max(config.updates * config.epochs, 1),
      ),
      config.max_gradient_norm,
    )
    self._gradient = gradient.Gradient(
      self.network,
      self._optimizer,
      clip=config.clip if config.epochs > 1 else None,
    )
    self.sample = sampling.sampler(self.network)
    self._rounds = rounds.Rounds(problems, config, seed, self._sampler_of)
    self._baseline = baselines.PerStepBaseline(config.window)
    self._round: rounds.Round | None = None
    self._told: dict[int, np.ndarray] = {}
    self._learned = {'entropy': 0.0, 'gradient_norm': 0.0}

  @property
  def problems(self) -> Sequence[placement_problem.PlacementProblem]:
    """The P graphs."""
    return self._rounds.problems

  def take_on(
    self,
    problems: Sequence[placement_problem.PlacementProblem],
    reference_seconds: Sequence[float],
  ) -> None:
    """Goes on with other problems; the network and the optimizer stay.

    Args:
      problems: P graphs.
      reference_seconds: P numbers.
    """
    self.reference_seconds = reference_seconds
    self._rounds.take_on(problems)
    self._baseline = baselines.PerStepBaseline(self._config.window)
    self._round, self._told = None, {}

  def start_from(self, candidate: np.ndarray) -> None:
    """Lets episodes of the first graph begin with a placement, int `[G]`."""
    self._rounds.last[0] = np.array(candidate, np.int32)

  def propose(self, update: int, *, measured: bool = False) -> learner.Proposal:
    number, place = divmod(update, self._rounds.size)
    known = self._round
    if known is None or (known.number, known.measured) != (number, measured):
      known = self._round = self._rounds.draw(number, measured)
      known.told.update(self._told)
      self._told = {}
    graph, states = known.worlds[place], known.states(place)
    if measured:
      return learner.Proposal(graph, states[:, -1], (known, place, None))
    is_new = environment.changes(states, known.every)
    # What the start was chosen from is simulated, too, and counts.
    planned = self._rounds.planned(known, graph)
    rows = np.concatenate([states[is_new], planned])
    # Equal states of several episodes are one sample.
    rows, index = np.unique(rows, axis=0, return_inverse=True)
    context = known, place, (is_new, index.reshape(-1)[: is_new.sum()])
    return learner.Proposal(graph, rows, context)

  def learn(
    self, proposal: learner.Proposal, outcomes: rewards.Outcomes
  ) -> Mapping[str, float]:
    drawn, place, told = proposal.context
    reference = self.reference_seconds[proposal.graph]
    if drawn.measured:
      ratios = rewards.ratios(outcomes, reference, _MOST_MEASURED)
      seconds = np.zeros(drawn.states(place).shape[:2])
      seconds[:, -1] = ratios
    else:
      values = self._rounds.world(proposal.graph).objective.penalised(outcomes)
      is_new, index = told
      seconds = environment.of_all_states(values[index], is_new) / reference
    drawn.told[place] = seconds
    if drawn.is_told:
      self._update(drawn)
    return {
      'reward': -float(seconds[:, -1].mean()),
      'baseline': -float(seconds[:, 0].mean()),
      **self._learned,
    }

  def trackables(self) -> Mapping[str, tf.Module]:
    return {'network': self.network, 'optimizer': self._optimizer}

  def arrays(self) -> Mapping[str, np.ndarray]:
    known = self._round
    unfinished = {} if known is None or known.is_told else known.told
    return {
      **{f'last/{g}': row for g, row in self._rounds.last.items()},
      **{
        f'last_seconds/{g}': np.array(seconds)
        for g, seconds in self._rounds.last_seconds.items()
      },
      **{f'baseline/{g}': v for g, v in self._baseline.state().items()},
      **{f'told/{place}': rows for place, rows in unfinished.items()},
      'learned': np.array(list(self._learned.values())),
    }

  def set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
    def below(prefix):
      return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
      }

    self._rounds.last = {int(g): row for g, row in below('last/').items()}
    self._rounds.last_seconds = {
      int(g): float(seconds) for g, seconds in below('last_seconds/').items()
    }
    self._baseline.set_state(below('baseline/'))
    self._told = {int(place): rows for place, rows in below('told/').items()}
    self._learned = dict(
      zip(self._learned, arrays['learned'].tolist(), strict=True)
    )
    self._round = None

  def configuration(self) -> Mapping[str, Any]:
    config = dataclasses.asdict(self._config)
    if self._config.network == 'states':
      config['num_devices'] = len(self.problems[0].devices)
    return {'policy': 'placeto', 'config': config}

  def _is_traced(self, number: int) -> bool:
    # By the round, not the call: a resumed run computes the same bits.
    return number >= self._traced_from

  def _sampler_of(self, number: int) -> Callable[..., sampling.Episodes]:
    if self._is_traced(number):
      return self.sample
    return sampling.sampler(self.network, traced=False)

  def _update(self, drawn: rounds.Round) -> None:
    """Learns from all graphs of a round."""
    for place in range(len(drawn.worlds)):
      self._remember(drawn, place, drawn.told[place])
    if not drawn.learned:
      return
    shape = drawn.episodes.order.shape
    advantages = np.zeros(shape, np.float32)
    for place, index in enumerate(drawn.worlds):
      found = self._advantages(index, drawn.told[place], drawn.measured)
      advantages[place, :, : found.shape[1]] = found
    weight = self._entropy(drawn.number)
    for _ in range(self._config.epochs):
      self._optimizer.start_update()
      entropy, norm = self._gradient(
        drawn.graphs,
        drawn.episodes,
        tf.constant(advantages),
        tf.constant(weight, tf.float32),
        traced=self._is_traced(drawn.number),
      )
    self._learned = {'entropy': float(entropy), 'gradient_norm': float(norm)}

  def _advantages(
    self, index: int, seconds: np.ndarray, measured: bool
  ) -> np.ndarray:
    config = self._config
    gained = self._rounds.world(index).environment.rewards_of(seconds)
    found = returns.to_go(gained, 1.0 if measured else config.discount)
    if config.own_baseline or measured:
      return returns.among_equals(found)
    advantages = self._baseline.advantages(found, index)
    self._baseline.update(found, index)
    return advantages

  def _remember(
    self, drawn: rounds.Round, place: int, seconds: np.ndarray
  ) -> None:
    """Keeps the best state of a graph's episodes, for others to go on from."""
    states = drawn.states(place)
    if drawn.measured:
      states, seconds = states[:, -1:], seconds[:, -1:]
    else:
      # R of a state that was not simulated is that of another.
      is_known = environment.changes(states, drawn.every)
      seconds = np.where(is_known, seconds, np.inf)
    best = np.unravel_index(seconds.argmin(), seconds.shape)
    index, found = drawn.worlds[place], float(seconds[best])
    known = self._rounds.last_seconds.get(index, np.inf)
    if found < known or not self._config.keep_best:
      self._rounds.last[index] = states[best].copy()
      self._rounds.last_seconds[index] = found
