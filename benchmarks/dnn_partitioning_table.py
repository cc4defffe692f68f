"""Our answers on the latency workloads of Tarnawski et al. (NeurIPS 2020).

    python -m benchmarks.dnn_partitioning_table --workloads=FOLDER

For each JSON workload in the folder whose name does not begin with
'throughput': the latency of one sample in our simulator, on the file's own
accelerators and CPUs, in ms.

  single       all on one accelerator, what it cannot run on the CPU;
  contiguous   a split of the topological order into one part an accelerator,
               optimal for the *sequential* latency (below);
  expert       the best split by hand;
  best planner the best of all single planners, and which;
  ours         the portfolio: what `place` answers in `--portfolio_seconds`;
  bound        no placement is below (`placer/policies/lower_bound.py`), and how
               far our answer is above it.

"no fit" is a placement that does not fit into the accelerators' memory, with
what it would take if it did.

`contiguous` is a dynamic program over prefixes of the colour classes in
topological order, as splits for pipelines are made: at most K parts, each with
its sizes within the memory of an accelerator, so that the sum of all op times
and of all transfers is least. It lets no two ops run at once and no transfer go
beside an op, so it is optimal for a chain and not for graphs with branches. Its
split is then simulated like all others.
"""

import datetime
import os
import pathlib
from collections.abc import Sequence

import numpy as np
from absl import app
from absl import flags

from benchmarks import bounds_benchmark
from placer.core import placement_problem
from placer.importers import cost_graph_file
from placer.policies import lower_bound
from placer.policies import registry
from placer.problems import cost_graph_problem
from placer.simulation import simulator

PLANNERS = (
  'annealing',
  'm_topo',
  'm_etf',
  'm_sct',
  'heft',
  'scotch',
  'metis',
  'exact',
)
_MOST_SUGGESTIONS = 16
# Colour classes stay groups of their own.
_ALL_GROUPS = 1_000_000
_HEADER = (
  '| workload | ops | groups | accelerators | single | contiguous | expert '
  '| best planner | ours | bound | within |\n'
  '|---|---|---|---|---|---|---|---|---|---|---|'
)


def contiguous(
  problem: placement_problem.PlacementProblem,
) -> np.ndarray | None:
  """The contiguous split of least sequential latency; see the module docstring.

  Args:
    problem: G groups on accelerators ('GPU') and CPUs, with costs in which an
      accelerator is busy with what it sends and receives.

  Returns:
    int32 `[G]`; groups that no accelerator can run are on a CPU. None if no
    split fits.
  """
  is_cpu = np.array([d.type == 'CPU' for d in problem.devices.devices])
  accelerators = np.flatnonzero(~is_cpu)
  movable = np.flatnonzero(problem.allowed[:, accelerators[0]])
  seconds = _transfer_seconds(problem, movable)
  size = np.bincount(
    problem.op_group,
    problem.graph.persistent_bytes,
    minlength=problem.num_groups,
  )
  taken = np.concatenate([[0], np.cumsum(size[movable])])
  limit = problem.costs.memory_bytes[accelerators[0]]
  fits = taken[np.newaxis] - taken[:, np.newaxis] <= limit
  part = np.where(fits & np.triu(np.ones_like(fits)), seconds, np.inf)
  # least[j]: the prefix of j groups in the parts so far.
  least = np.full(len(movable) + 1, np.inf)
  least[0], starts = 0.0, []
  for _ in accelerators:
    total = least[:, np.newaxis] + part
    starts.append(total.argmin(axis=0))
    least = total.min(axis=0)
  if not np.isfinite(least[-1]):
    return None
  placed = problem.allowed.argmax(axis=1).astype(np.int32)
  end = len(movable)
  for device, start in zip(accelerators[::-1], starts[::-1], strict=True):
    placed[movable[start[end] : end]] = device
    end = int(start[end])
  return placed


def _transfer_seconds(problem, movable: np.ndarray) -> np.ndarray:
  """float64 `[M + 1, M + 1]`: what a part of the groups has to receive.

  A part of the M movable groups, from row to column, reads of groups before it
  and of CPUs. What goes back between colour classes is left out.
  """
  graph, links = problem.graph, problem.costs.links
  place = np.full(problem.num_groups, -1)
  place[movable] = np.arange(len(movable))
  one, other = 0, min(1, len(problem.devices) - 1)
  byte = links.send_seconds_per_byte[one, other]
  byte_from_cpu = links.receive_seconds_per_byte[-1, one]
  readers: dict[int, set[int]] = {}
  for tensor, target in zip(
    graph.edge_tensor.tolist(), graph.edge_target.tolist(), strict=True
  ):
    if tensor >= 0:
      readers.setdefault(tensor, set()).add(
        int(place[problem.op_group[target]])
      )
  seconds = np.zeros((len(movable) + 1, len(movable) + 1))
  for tensor, found in readers.items():
    source = int(place[problem.op_group[graph.tensor_source[tensor]]])
    size = int(graph.tensor_bytes[tensor])
    # Sending keeps the one end busy, receiving the other.
    cost = size * (byte_from_cpu if source < 0 else 2 * byte)
    begin = source + 1
    for reader in sorted(found - {-1, source}):
      seconds[begin : reader + 1, reader + 1 :] += cost
      begin = max(begin, reader + 1)
  return seconds


def line(
  problem: placement_problem.PlacementProblem,
  name: str,
  bound_seconds: float,
  portfolio_seconds: float,
) -> str:
  """The line of one workload.

  Args:
    problem: of it, with costs.
    name: of it.
    bound_seconds: for the bound.
    portfolio_seconds: for the portfolio.

  Returns:
    A line of a table in Markdown.
  """
  split = contiguous(problem)
  others = (
    _suggested(problem, 'single_device')[:1],
    [] if split is None else [split],
    _suggested(problem, 'expert'),
  )
  planned = {
    planner: _best(problem, _suggested(problem, planner))
    for planner in PLANNERS
  }
  best = min(planned, key=lambda planner: planned[planner][0])
  ours = bounds_benchmark.portfolio_choice(problem, portfolio_seconds)
  seconds, candidate = _best(problem, [ours])
  bound = lower_bound.lower_bound(problem, bound_seconds, known=candidate)
  accelerators = sum(d.type != 'CPU' for d in problem.devices.devices)
  cells = [
    name,
    str(len(problem.graph)),
    str(problem.num_groups),
    str(accelerators),
    *(_cell(problem, candidates) for candidates in others),
    f'{_ms(planned[best][0])} {best}',
    f'**{_ms(seconds)}**',
    f'{_ms(bound.seconds)} {bound.method}',
    f'{100 * bound.gap(seconds):.1f} %' if np.isfinite(seconds) else '',
  ]
  return f'| {" | ".join(cells)} |'


def _suggested(problem, policy: str) -> list[np.ndarray]:
  found = registry.make(policy, problem, seed=0).suggest(_MOST_SUGGESTIONS)
  return [suggestion.candidate for suggestion in found]


def _best(problem, candidates) -> tuple[float, np.ndarray | None]:
  """(latency, candidate) of the best that runs; inf and None if none does."""
  if not len(candidates):
    return np.inf, None
  batch = simulator.simulate(problem, problem.costs, np.stack(candidates))
  best = batch.best()
  if best is None:
    return np.inf, None
  return float(batch.step_time_seconds[best]), candidates[best]


def _cell(problem, candidates) -> str:
  """The latency of the best that runs, or of the best if memory were enough."""
  seconds, _ = _best(problem, candidates)
  if np.isfinite(seconds) or not len(candidates):
    return _ms(seconds)
  batch = simulator.simulate(problem, problem.costs, np.stack(candidates))
  return f'no fit ({_ms(float(batch.unbounded_seconds.min()))})'


def _ms(seconds: float) -> str:
  return f'{1e3 * seconds:.2f}' if np.isfinite(seconds) else 'no fit'


def main(unused_argv: Sequence[str]) -> None:
  """Prints the table, a line as soon as it is known."""
  cores = len(os.sched_getaffinity(0))
  print(
    f'{datetime.date.today()}, {cores} cores; ms a sample in our simulator; '
    f'{_BOUND_SECONDS.value:g} s for each bound, {_PORTFOLIO_SECONDS.value:g} '
    f's for each portfolio\n\n{_HEADER}'
  )
  for file in sorted(pathlib.Path(_WORKLOADS.value).glob('*.json')):
    if file.name.startswith('throughput') or _ONLY.value not in file.name:
      continue
    graph = cost_graph_file.read(file)
    devices = cost_graph_problem.own_devices(graph, 'auto')
    problem = cost_graph_problem.build(graph, devices, max_groups=_ALL_GROUPS)
    seconds = _BOUND_SECONDS.value, _PORTFOLIO_SECONDS.value
    print(line(problem, file.stem, *seconds), flush=True)


if __name__ == '__main__':
  _WORKLOADS = flags.DEFINE_string('workloads', None, 'Folder.', required=True)
  _ONLY = flags.DEFINE_string('only', '', 'Files with this in their names.')
  _BOUND_SECONDS = flags.DEFINE_float('bound_seconds', 30, 'For each bound.')
  _PORTFOLIO_SECONDS = flags.DEFINE_float(
    'portfolio_seconds', 60, 'For each portfolio.'
  )
  app.run(main)
