"""Placeto on graphs that it has not seen, beside the planners.

    python -m benchmarks.placeto_generalisation --devices=simulated:k80x4
    python -m benchmarks.placeto_generalisation --render

For the halves 'test' of the families (`benchmarks/families`): the step of the
best of at most 16 suggestions, simulated op by op, of

  planners      those of `PLANNERS`, random among them
  zero_shot     the weights that come with placer (trained on the halves
                'train'), from one device and random placements only
  warm          the same, also from the best of cheap planners, as
                `--policy=placeto` begins
  optimised     the same weights, trained on that graph with `--samples` more
                placements
  no_opinion    the same search, whose network finds all devices equally good
  order_*       zero-shot in one traversal order only
  WEIGHTS       zero-shot with other weights: `--weights=no_messages=FILE,…`

A run is a line of `--runs` (JSON), written when it is done; runs that are there
are not made again, so a killed benchmark goes on. `--render` writes the table
and, for each family, a plot of the distributions. Nothing is run on devices.
"""

import dataclasses
import json
import pathlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import app
from absl import flags

from benchmarks import families
from benchmarks import learned_table_text
from benchmarks import placeto_generalisation_text
from placer.core import placement_problem
from placer.devices import target
from placer.policies import registry
from placer.policies.learning import evaluation
from placer.policies.learning import training
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import environment
from placer.policies.placeto import guided_search
from placer.policies.placeto import learner as learner_lib
from placer.policies.placeto import sampling
from placer.policies.placeto import weights
from placer.policies.placeto import zero_shot
from placer.simulation import coarse
from placer.simulation import simulator

_RESULTS = pathlib.Path(__file__).parent / 'results'
PLANNERS = (
  'single_device',
  'random',
  'expert',
  'scotch',
  'm_etf',
  'heft',
  'annealing',
)
ORDERS = tuple(f'order_{kind}' for kind in environment.ORDERS)
POLICIES = (
  *PLANNERS,
  'zero_shot',
  'warm',
  'optimised',
  'no_opinion',
  *ORDERS,
)
_MOST = 16
# A temperature at which any two devices are as likely.
_INDIFFERENT = 1e3
_COLD = dataclasses.replace(config_lib.PlacetoConfig(), warm_start=())


class Policies:
  """Places problems with what `--policies` names."""

  def __init__(self, samples: int, others: dict[str, str]) -> None:
    """Makes them.

    Args:
      samples: of 'optimised', for each graph.
      others: {name: file of weights}.
    """
    self._samples = samples
    self._others = {name: weights.load(path) for name, path in others.items()}
    self._learner: learner_lib.PlacetoLearner | None = None
    self._first: list[np.ndarray] = []

  def place(
    self, policy: str, problem: placement_problem.PlacementProblem
  ) -> np.ndarray:
    """At most `_MOST` candidates int32 `[K, G]` of a policy."""
    if policy == 'zero_shot':
      return _cold(problem)
    if policy == 'warm':
      return zero_shot.zero_shot(problem, problem.costs)
    if policy == 'no_opinion':
      return _cold(problem, sample=_without_opinion)
    if policy == 'optimised':
      return self._optimised(problem)
    if policy in ORDERS:
      kind = policy.removeprefix('order_')
      search = guided_search.GuidedSearchConfig(orders=(kind,))
      return _cold(problem, zero_shot.ZeroShotConfig(search=search))
    if policy in self._others:
      return zero_shot.place(self._others[policy][0], _COLD, problem)
    found = registry.make(policy, problem).suggest(_MOST)
    rows = [suggestion.candidate for suggestion in found]
    return np.array(rows, np.int32).reshape(-1, problem.num_groups)

  def _optimised(self, problem) -> np.ndarray:
    small = coarse.coarse_problem(problem, problem.costs)
    made = dataclasses.replace(small.problem, costs=small.cost_model)
    evaluator = evaluation.Simulated([made])
    references = [evaluation.reference_seconds(made, evaluator)]
    if self._learner is None:
      # One for all graphs, as its first weights are: tracing takes longer than
      # a graph does.
      settings = dataclasses.replace(_COLD, graphs=1)
      self._learner = learner_lib.PlacetoLearner(
        [made], settings, 0, references
      )
      weights.assign_pretrained(self._learner.network, settings)
      self._first = [v.numpy() for v in self._variables()]
    for variable, value in zip(self._variables(), self._first, strict=True):
      variable.assign(value)
    self._learner.take_on([made], references)
    first = self.place('zero_shot', problem)
    self._learner.start_from(first[0])
    trainer = training.Trainer(self._learner, evaluator)
    trainer.run(samples=self._samples)
    again = zero_shot.place(
      self._learner.network, _COLD, problem, sample=self._learner.sample
    )
    return np.concatenate([trainer.best[0].candidates, first, again])

  def _variables(self):
    return [
      variable
      for module in self._learner.trackables().values()
      for variable in module.variables
    ]


def _cold(
  problem,
  settings: zero_shot.ZeroShotConfig = zero_shot.ZeroShotConfig(),
  sample=None,
) -> np.ndarray:
  """Candidates of the weights that come with placer, without planners."""
  return zero_shot.place(
    weights.pretrained()[0],
    _COLD,
    problem,
    config=settings,
    sample=sample or zero_shot.pretrained_sampler(),
  )


def _without_opinion(*arguments, **named) -> sampling.Episodes:
  """Episodes that draw each device, and move each set, equally often."""
  named['temperature'] = tf.fill(named['temperature'].shape, _INDIFFERENT)
  found = zero_shot.pretrained_sampler()(*arguments, **named)
  return found._replace(policy=tf.zeros_like(found.policy))


def run(policies: Policies, policy: str, problem) -> dict[str, Any]:
  """JSON values of one run: step_seconds (or None), wall_seconds."""
  begin = time.monotonic()
  rows = policies.place(policy, problem)
  seconds = time.monotonic() - begin
  batch = simulator.simulate(problem, problem.costs, rows)
  best = batch.best() if len(rows) else None
  step = None if best is None else float(batch.step_time_seconds[best])
  return {'step_seconds': step, 'wall_seconds': round(seconds, 2)}


def _problems(spec: str) -> Iterator[tuple[str, str, Any]]:
  """(family, graph, problem), family by family in turn."""
  devices = target.resolve(spec)
  made = [families.problems(name, 'test', devices) for name in _FAMILIES.value]
  # One of each in turn, made when it is needed: a part of the runs is fair.
  for group in zip(*made, strict=True):
    for family, (graph, problem) in zip(_FAMILIES.value, group, strict=True):
      yield family, graph, problem


def main(unused_argv: Sequence[str]) -> None:
  """Makes the runs that are missing, or renders the table."""
  file = pathlib.Path(_RUNS.value)
  runs = learned_table_text.read(file)
  if _RENDER.value:
    placeto_generalisation_text.write(runs, _RESULTS)
    return
  done = {(r['graph'], r['devices'], r['policy']) for r in runs}
  others = dict(entry.split('=', 1) for entry in _WEIGHTS.value)
  policies = Policies(_SAMPLES.value, others)
  names = [*_POLICIES.value, *others]
  for spec in _DEVICES.value:
    for family, graph, problem in _problems(spec):
      for policy in names:
        if (graph, spec, policy) in done:
          continue
        line = {
          'family': family,
          'graph': graph,
          'devices': spec,
          'policy': policy,
          **run(policies, policy, problem),
        }
        with file.open('a') as stream:
          stream.write(json.dumps(line) + '\n')
      print(graph, spec, flush=True)


if __name__ == '__main__':
  _RUNS = flags.DEFINE_string(
    'runs', str(_RESULTS / 'placeto_generalisation.jsonl'), 'A line a run.'
  )
  _RENDER = flags.DEFINE_boolean('render', False, 'Write table and plots.')
  _FAMILIES = flags.DEFINE_list('families', ['cifar10', 'ptb', 'nmt'], 'Which.')
  _DEVICES = flags.DEFINE_list('devices', ['simulated:k80x4'], 'Which.')
  _POLICIES = flags.DEFINE_list('policies', list(POLICIES), 'Which to run.')
  _WEIGHTS = flags.DEFINE_list('weights', [], 'NAME=FILE of other weights.')
  _SAMPLES = flags.DEFINE_integer('samples', 8192, 'Of optimised, a graph.')
  app.run(main)
