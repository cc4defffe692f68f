"""Small synthetic PlacementProblems for tests and examples.

Each builder returns a PlacementProblem with one op a group (G = N) unless
`op_group` says otherwise. Ops are named by their place ('branch_1/op_2'), each
op has one output tensor that all its consumers read.

    chain           o-o-o-o                      nothing to gain from a split
    two_chains      o-o-o   o-o-o                perfectly parallel
    fork_join       a fork, `width` chains of `length`, a join
    modules         fork_joins in a row, like Inception's modules
    layered_random  layers of random width, random edges to earlier layers
"""

from collections.abc import Mapping, Sequence

import numpy as np

from placer.core import device
from placer.core import op_graph
from placer.core import placement_problem

FLOPS = 1e9
TENSOR_BYTES = 1_000_000


def topology(
  count: int = 2, *, linked: bool = False, gpus: int = 0
) -> device.DeviceTopology:
  """`count` CPU workers, then `gpus` GPUs of worker 0.

  Args:
    count: CPU workers, each '/job:worker/replica:0/task:I/device:CPU:0'.
    linked: give every ordered pair a Link of 0.6 ms and 1.2 GB/s.
    gpus: GPUs of task 0.

  Returns:
    A DeviceTopology with spec 'local:COUNT'.
  """
  stem = '/job:worker/replica:0/task:'
  devices = [device.Device(f'{stem}{i}/device:CPU:0') for i in range(count)]
  devices += [device.Device(f'{stem}0/device:GPU:{i}') for i in range(gpus)]
  links = ()
  if linked:
    pairs = [(i, j) for i in range(len(devices)) for j in range(len(devices))]
    links = tuple(device.Link(i, j, 0.0006, 1.2e9) for i, j in pairs if i != j)
  return device.DeviceTopology(
    spec=f'local:{count}', devices=tuple(devices), links=links
  )


def build(
  names: Sequence[str],
  edges: Sequence[tuple[int, int]],
  *,
  devices: int | device.DeviceTopology = 2,
  flops: float | Sequence[float] = FLOPS,
  tensor_bytes: int | Sequence[int] = TENSOR_BYTES,
  allowed: np.ndarray | None = None,
  op_group: Sequence[int] | None = None,
  original_devices: Sequence[str] | None = None,
  fixed_reasons: Mapping[int, str] | None = None,
) -> placement_problem.PlacementProblem:
  """A problem from ops and data edges.

  Args:
    names: N op names, in topological order.
    edges: (source, target) pairs, source < target.
    devices: how many workers, or a topology of D devices.
    flops: of each op, or one number for all.
    tensor_bytes: of each op's output, or one number for all.
    allowed: bool `[G, D]`; None allows everything.
    op_group: the group of each op; None gives each its own.
    original_devices: N device strings; None for no annotations.
    fixed_reasons: passed on.

  Returns:
    The PlacementProblem.
  """
  count = len(names)
  if original_devices is None:
    original_devices = [''] * count
  if isinstance(devices, int):
    devices = topology(devices)
  source = np.array([edge[0] for edge in edges], np.int32)
  graph = op_graph.OpGraph(
    names=tuple(names),
    types=('MatMul',) * count,
    tensor_source=np.arange(count, dtype=np.int32),
    tensor_bytes=np.broadcast_to(
      np.asarray(tensor_bytes, np.int64), count
    ).copy(),
    tensor_shape_known=np.ones(count, bool),
    edge_source=source,
    edge_target=np.array([edge[1] for edge in edges], np.int32),
    edge_tensor=source.copy(),
    edge_is_back=np.zeros(len(edges), bool),
    flops=np.broadcast_to(np.asarray(flops, np.float64), count).copy(),
    persistent_bytes=np.zeros(count, np.int64),
    original_devices=tuple(map(str, original_devices)),
  )
  groups = np.asarray(
    np.arange(count) if op_group is None else op_group, np.int32
  )
  _, first = np.unique(groups, return_index=True)
  if allowed is None:
    allowed = np.ones((len(first), len(devices)), bool)
  return placement_problem.PlacementProblem(
    graph=graph,
    devices=devices,
    op_group=groups,
    allowed=allowed,
    group_names=tuple(names[i] for i in first),
    fixed_reasons=fixed_reasons or {},
  )


def chain(length: int = 6, **options) -> placement_problem.PlacementProblem:
  """`length` ops, each reads the one before; `options` go to `build`."""
  names = [f'op_{i}' for i in range(length)]
  edges = [(i, i + 1) for i in range(length - 1)]
  return build(names, edges, **options)


def two_chains(
  length: int = 4, **options
) -> placement_problem.PlacementProblem:
  """Two chains that never meet; `options` go to `build`."""
  names = [f'chain_{c}/op_{i}' for c in range(2) for i in range(length)]
  edges = [
    (c * length + i, c * length + i + 1)
    for c in range(2)
    for i in range(length - 1)
  ]
  return build(names, edges, **options)


def fork_join(
  width: int = 4, length: int = 3, **options
) -> placement_problem.PlacementProblem:
  """One module of `modules`; `options` go to `build`."""
  return modules(1, width=width, length=length, **options)


def modules(
  count: int = 3, *, width: int = 4, length: int = 2, **options
) -> placement_problem.PlacementProblem:
  """`count` modules in a row, each a fork, parallel branches and a join.

  Args:
    count: modules; the join of one is the fork of the next.
    width: branches of a module.
    length: ops of a branch.
    **options: go to `build`.

  Returns:
    A problem of 1 + count * (width * length + 1) ops.
  """
  names, edges, trunk = ['fork'], [], 0
  for m in range(count):
    ends = []
    for b in range(width):
      before = trunk
      for i in range(length):
        names.append(f'module_{m}/branch_{b}/op_{i}')
        edges.append((before, len(names) - 1))
        before = len(names) - 1
      ends.append(before)
    trunk = len(names)
    names.append(f'module_{m}/join')
    edges += [(end, trunk) for end in ends]
  return build(names, edges, **options)


def layered_random(
  layers: int = 5, width: int = 4, *, seed: int = 0, **options
) -> placement_problem.PlacementProblem:
  """Layers of 1..width ops, each reading one to three ops of earlier layers.

  Args:
    layers: how many.
    width: most ops of a layer.
    seed: of the structure, the flops (x 0.1 … 10) and the bytes.
    **options: go to `build`; `flops` and `tensor_bytes` override.

  Returns:
    The problem.
  """
  rng = np.random.default_rng(seed)
  names, edges, earlier = [], [], 0
  for layer in range(layers):
    for i in range(int(rng.integers(1, width + 1))):
      names.append(f'layer_{layer}/op_{i}')
      reads = min(earlier, int(rng.integers(1, 4)))
      for source in rng.choice(max(earlier, 1), reads, replace=False):
        edges.append((int(source), len(names) - 1))
    earlier = len(names)
  count = len(names)
  sizes = TENSOR_BYTES * 10 ** rng.uniform(-2, 1, count)
  options.setdefault('flops', FLOPS * 10 ** rng.uniform(-1, 1, count))
  options.setdefault('tensor_bytes', sizes.astype(int))
  return build(names, edges, **options)
