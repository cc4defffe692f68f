"""LearnedPolicy: a learner as a Policy of the search.

    class MyPolicy(learned_policy.LearnedPolicy):
      name = 'my_policy'
      summary = '…'
      configs = {'default': Config(), 'paper': Config.paper()}
      def make_learner(cls, problems, config, seed): …       # a classmethod

With costs (`problem.costs`) it first trains in simulation, on a fixed number of
samples or updates: equal seeds give equal suggestions however busy the host is.
That is when it is first asked, or, if it knows something before
(`first_candidates`), when all of that was taken. Its best candidates are
suggested, then it goes on from measured times: small proposals, learned from as
soon as all of a proposal is measured. Without costs it learns from measured
trials only.

Measured steps are told to the learner relative to the paired reference, in
units of its own reference, so what it learned in simulation stays of use.

It ends (suggests nothing) when all placements there are were suggested, or
`_PATIENCE` proposals in a row had nothing new.
"""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from placer.core import cost_model
from placer.core import placement_problem
from placer.core import trial as trial_lib
from placer.policies import base
from placer.policies.learning import checkpoint as checkpoint_lib
from placer.policies.learning import evaluation
from placer.policies.learning import learner as learner_lib
from placer.policies.learning import rewards
from placer.policies.learning import training

# Best candidates of the simulation that are measured before it learns on.
_FINALISTS = 4
_PATIENCE = 3


class LearnedPolicy(base.Policy):
  """A learner as a Policy; see the module docstring.

  Attributes:
    configs: {'default': …, 'paper': …}: frozen dataclasses with the field
      `pretrain_samples`.
    supports_many_graphs: whether its learner takes several problems.
  """

  configs: ClassVar[Mapping[str, Any]]
  is_learned = True
  supports_many_graphs: ClassVar[bool] = False

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    seed: int = 0,
    config: Any = None,
    checkpoint: str | None = None,
  ) -> None:
    """Makes a policy; it trains when it is first asked.

    Args:
      problem: G groups on D devices.
      seed: of weights and samples.
      config: one of `configs` or the like; None for the default.
      checkpoint: folder `checkpoints` of `placer train`, to start from.
    """
    super().__init__(problem, seed=seed)
    leave_gpus_alone()
    self._config = self.configs['default'] if config is None else config
    self._seed = seed
    self._checkpoint = checkpoint
    self._learner: learner_lib.Learner | None = None
    self._started = False
    # Until it has trained in simulation.
    self._trainer: training.Trainer | None = None
    self._updates = 0
    self._queue: list[base.Suggestion] = []
    self._suggested: set[bytes] = set()
    # The best of the simulation, until all of them are measured.
    self._finalists: np.ndarray | None = None
    self._open: learner_lib.Proposal | None = None
    # candidate -> step over the paired reference; inf where it did not run.
    self._measured: dict[bytes, float] = {}
    self._first_seconds: float | None = None

  @classmethod
  @abc.abstractmethod
  def make_learner(
    cls,
    problems: Sequence[placement_problem.PlacementProblem],
    config: Any,
    seed: int,
    reference_seconds: Sequence[float],
  ) -> learner_lib.Learner:
    """Makes the learner.

    Args:
      problems: P graphs, each with at least one group.
      config: of the class' kind.
      seed: of weights and samples.
      reference_seconds: P numbers, the step on the best single device.
    """

  def first_candidates(self, made: learner_lib.Learner) -> np.ndarray:
    """What to suggest before any learning on this problem.

    Args:
      made: the learner, as it was made or restored from a checkpoint.

    Returns:
      int32 `[K, G]`, legal, the best first; none if it has to learn first.
    """
    del made
    return np.zeros((0, self.problem.num_groups), np.int32)

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    if count < 1:
      return []
    if not self._started:
      self._start()
    if not self._queue and self._trainer is not None:
      self._train()
    if not self._queue and self._learner is not None:
      self._propose()
    taken, self._queue = self._queue[:count], self._queue[count:]
    return taken

  def update(self, trials: Sequence[trial_lib.Trial]) -> Mapping[str, float]:
    for trial in trials:
      key = np.asarray(trial.candidate, np.int32).tobytes()
      self._measured[key] = self._ratio(trial)
    if self._finalists is not None and self._are_measured(self._finalists):
      self._learner.tell(self._finalists, self._outcomes(self._finalists))
      self._finalists = None
    if self._open is None or not self._are_measured(self._open.candidates):
      return {}
    return self._learn()

  def _start(self) -> None:
    """Makes the learner, if there is a group."""
    self._started = True
    problem = self.problem
    if not problem.num_groups:
      self._add(np.zeros((1, 0), np.int32), self.name)
      return
    evaluator: evaluation.Evaluator | None = None
    reference = 1.0
    if problem.costs is not None:
      evaluator = evaluation.Simulated([problem])
      reference = evaluation.reference_seconds(problem, evaluator)
    self._learner = self.make_learner(
      [problem], self._config, self._seed, [reference]
    )
    trainer = training.Trainer(self._learner, evaluator)
    if self._checkpoint is not None:
      self._load(trainer, self._checkpoint)
    self._add(self.first_candidates(self._learner), f'{self.name}, zero-shot')
    self._trainer = trainer

  def _train(self) -> None:
    """Trains in simulation, if there are costs, and suggests the best."""
    trainer, self._trainer = self._trainer, None
    if self.problem.costs is not None and not trainer.samples:
      trainer.run(
        samples=self._config.pretrain_samples, updates=self._pretrain_updates
      )
    self._updates = trainer.updates
    best = trainer.best[0]
    for candidate, seconds in zip(
      best.candidates[:_FINALISTS], best.seconds[:_FINALISTS]
    ):
      label = f'{self.name}, predicted {seconds:.4g} s'
      self._add(candidate[np.newaxis], label)
    if len(best.candidates):
      self._finalists = best.candidates[:_FINALISTS]

  @property
  def _pretrain_updates(self) -> int | None:
    """Updates of the training in simulation at most; None for no limit."""
    return None

  def _load(self, trainer: training.Trainer, folder: str) -> None:
    """Starts from a checkpoint; one of this graph is not trained on."""
    saved = checkpoint_lib.read_config(folder)
    configuration = {
      **trainer.learner.configuration(),
      # It decided how the weights came to be; they are as good for another.
      'seed': saved.get('seed'),
    }
    if self.supports_many_graphs:
      # Of other graphs: weights only.
      checkpoint_lib.restore(
        folder, trainer.learner.trackables(), configuration
      )
    else:
      trainer.load(folder, configuration)

  def _propose(self) -> None:
    """Draws until there is something new to measure, or patience ends."""
    choices = np.log2(self.problem.allowed.sum(axis=1)).sum()
    if len(self._suggested) >= 2 ** min(choices, 62):
      return
    for _ in range(_PATIENCE):
      if self._open is not None and not self._are_measured(
        self._open.candidates
      ):
        # Asked again before it was told: more of the same policy.
        self._open = None
      proposal = self._learner.propose(self._updates, measured=True)
      self._updates += 1
      self._open = proposal
      self._add(proposal.candidates, f'{self.name} {self._updates}')
      if self._queue:
        return
      if self._are_measured(proposal.candidates):
        self._learn()

  def _add(self, candidates: np.ndarray, label: str) -> None:
    """Queues the candidates that were not suggested yet."""
    for candidate in candidates:
      key = candidate.tobytes()
      if key not in self._suggested:
        self._suggested.add(key)
        self._queue.append(base.Suggestion(candidate.copy(), label))

  def _are_measured(self, candidates: np.ndarray) -> bool:
    return all(c.tobytes() in self._measured for c in candidates)

  def _learn(self) -> Mapping[str, float]:
    proposal, self._open = self._open, None
    metrics = self._learner.learn(proposal, self._outcomes(proposal.candidates))
    return {name: float(value) for name, value in metrics.items()}

  def _outcomes(self, candidates: np.ndarray) -> rewards.Outcomes:
    """What measured candidates int32 `[B, G]` came to."""
    ratios = np.array([self._measured[c.tobytes()] for c in candidates])
    devices = len(self.problem.devices)
    return rewards.Outcomes(
      step_seconds=ratios * self._learner.reference_seconds[0],
      feasible=np.isfinite(ratios),
      peak_bytes=np.zeros((len(ratios), devices), np.int64),
      memory_bytes=np.full(devices, cost_model.NO_LIMIT, np.int64),
    )

  def _ratio(self, trial: trial_lib.Trial) -> float:
    """The step over the reference's; over the first step where it has none."""
    measured = trial.measurement
    if not measured.ok:
      return np.inf
    if measured.reference_times_seconds:
      reference = float(np.median(measured.reference_times_seconds))
    else:
      if self._first_seconds is None:
        self._first_seconds = measured.step_time_seconds
      reference = self._first_seconds
    return measured.step_time_seconds / max(reference, 1e-12)


def leave_gpus_alone() -> None:
  """Learning here is small; the GPUs are for what is measured."""
  try:
    tf.config.set_visible_devices([], 'GPU')
  except RuntimeError:
    pass  # TensorFlow has started already: the user's own choice stays
