"""What an episode of Placeto costs, and how that grows with the graph.

    python -m benchmarks.placeto_cost --plot=benchmarks/results/placeto_cost.svg

For synthetic layered graphs of 64 to 512 groups on four devices: seconds an
episode, amortised over a batch, of drawing it, of the rewards of all its states
and of the gradient (all epochs), for our network and the paper's. Times are of
the best of `--repeats` batches after the first, since other programs only add
to them. Bars: at most 0.2 s an episode at 128 groups, and an exponent of growth
of at most 1.3, where 1 is linear; both for our network. The paper's embeds the
graph at each step, so it cannot be near linear; it is here for comparison.
Exit code 1 when a bar is missed.
"""

import dataclasses
import datetime
import os
import pathlib
import sys
import time
from collections.abc import Sequence

import numpy as np
from absl import app
from absl import flags

from benchmarks import plot_svg
from placer.core import device as device_lib
from placer.core import op_graph
from placer.core import placement_problem
from placer.policies import planning_costs
from placer.policies.learning import evaluation
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import learner as learner_lib

SECONDS_BAR = 0.2
EXPONENT_BAR = 1.3
_DEVICES = 4


@dataclasses.dataclass(frozen=True)
class Cost:
  """Seconds an episode.

  Attributes:
    groups: of the graph.
    draw: drawing actions.
    rewards: simulating all states.
    learn: the gradient and the update.
  """

  groups: int
  draw: float
  rewards: float
  learn: float

  @property
  def total(self) -> float:
    """All of it."""
    return self.draw + self.rewards + self.learn


def problem(groups: int, seed: int = 0) -> placement_problem.PlacementProblem:
  """A layered graph with one op a group on four linked devices.

  Args:
    groups: G; layers of four, each op reads one or two of the layer before.
    seed: of edges, times and sizes.
  """
  rng = np.random.default_rng(seed)
  edges = sorted(
    {
      (int(max(target // 4 - 1, 0) * 4 + rng.integers(4)), target)
      for target in range(4, groups)
      for _ in range(2)
    }
  )
  source = np.array([edge[0] for edge in edges], np.int32)
  names = tuple(f'op_{i}' for i in range(groups))
  graph = op_graph.OpGraph(
    names=names,
    types=('MatMul',) * groups,
    tensor_source=np.arange(groups, dtype=np.int32),
    tensor_bytes=(1e6 * rng.uniform(0.1, 2, groups)).astype(np.int64),
    tensor_shape_known=np.ones(groups, bool),
    edge_source=source,
    edge_target=np.array([edge[1] for edge in edges], np.int32),
    edge_tensor=source.copy(),
    edge_is_back=np.zeros(len(edges), bool),
    flops=1e9 * rng.uniform(0.1, 2, groups),
    persistent_bytes=np.zeros(groups, np.int64),
    original_devices=('',) * groups,
  )
  devices = device_lib.DeviceTopology(
    f'local:{_DEVICES}',
    tuple(
      device_lib.Device(f'/job:worker/replica:0/task:{i}/device:CPU:0')
      for i in range(_DEVICES)
    ),
  )
  made = placement_problem.PlacementProblem(
    graph=graph,
    devices=devices,
    op_group=np.arange(groups, dtype=np.int32),
    allowed=np.ones((groups, _DEVICES), bool),
    group_names=names,
  )
  return dataclasses.replace(made, costs=planning_costs.of_problem(made))


def measure(
  config: config_lib.PlacetoConfig, groups: int, repeats: int
) -> Cost:
  """Times whole updates, the parts apart.

  Args:
    config: settings.
    groups: G.
    repeats: updates after the first, which traces.
  """
  graph = problem(groups)
  evaluator = evaluation.Simulated([graph])
  reference = evaluation.reference_seconds(graph, evaluator)
  learner = learner_lib.PlacetoLearner([graph], config, 0, [reference])
  rows = []
  for update in range(repeats + 1):
    times = [time.perf_counter()]
    proposal = learner.propose(update)
    times.append(time.perf_counter())
    outcomes = evaluator(proposal.graph, proposal.candidates)
    times.append(time.perf_counter())
    learner.learn(proposal, outcomes)
    times.append(time.perf_counter())
    rows.append(np.diff(times) / config.episodes)
  return Cost(groups, *np.min(rows[1:], axis=0).tolist())


def exponent(costs: Sequence[Cost]) -> float:
  """The slope of log seconds over log groups."""
  groups = [cost.groups for cost in costs]
  totals = [cost.total for cost in costs]
  return float(np.polyfit(np.log(groups), np.log(totals), 1)[0])


def main(unused_argv: Sequence[str]) -> None:
  """Prints a line a size, and whether the bars are kept."""
  cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
  print(f'{datetime.date.today()}, {cores} cores, load {load:.1f}')
  ours = dataclasses.replace(
    config_lib.PlacetoConfig(),
    pretrained=False,
    opening=0,
    graphs=1,
    episodes=16,
  )
  found = {}
  for name, config, sizes in (
    ('ours', ours, _SIZES.value),
    ('paper', config_lib.paper(), _PAPER_SIZES.value),
  ):
    found[name] = []
    for groups in map(int, sizes):
      cost = measure(config, groups, _REPEATS.value)
      found[name].append(cost)
      print(
        f'{name:6} {groups:4} groups: {cost.total:.4f} s an episode (draw '
        f'{cost.draw:.4f}, rewards {cost.rewards:.4f}, learn {cost.learn:.4f})',
        flush=True,
      )
    print(f'{name}: exponent of growth {exponent(found[name]):.2f}')
  if _PLOT.value:
    text = plot_svg.lines(
      {
        name: [(cost.groups, cost.total) for cost in costs]
        for name, costs in found.items()
      },
      x_title='groups',
      y_title='seconds an episode',
      logarithmic=True,
    )
    pathlib.Path(_PLOT.value).write_text(text)
  at_128 = next(cost for cost in found['ours'] if cost.groups == 128)
  kept = at_128.total <= SECONDS_BAR and exponent(found['ours']) <= EXPONENT_BAR
  print(f'bars ({SECONDS_BAR} s at 128, exponent {EXPONENT_BAR}): kept {kept}')
  sys.exit(0 if kept else 1)


if __name__ == '__main__':
  _SIZES = flags.DEFINE_list('sizes', ['64', '128', '256', '512'], 'Groups.')
  _PAPER_SIZES = flags.DEFINE_list(
    'paper_sizes', ['64', '128', '256'], "Groups, for the paper's network."
  )
  _REPEATS = flags.DEFINE_integer('repeats', 3, 'Batches.', lower_bound=1)
  _PLOT = flags.DEFINE_string('plot', '', 'File for a plot (SVG).')
  app.run(main)
