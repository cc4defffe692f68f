"""Which links to measure, and what the others are taken to be.

Each ordered pair of devices is a link: 240 for 16 workers. At most twelve of
a kind (CPU to CPU, CPU to GPU ...) are measured, which is all of them up to
four devices; the others get the median of their kind.
"""

import collections
import statistics
from collections.abc import Sequence

from placer.core import device as device_lib

_MOST_OF_A_KIND = 12
_COSTS = (
  'latency_seconds',
  'bytes_per_second',
  'load_seconds',
  'load_seconds_per_byte',
)


def to_measure(
  topology: device_lib.DeviceTopology,
) -> tuple[tuple[int, int], ...]:
  """The pairs to measure, spread evenly over the devices of each kind."""
  chosen: list[tuple[int, int]] = []
  for pairs in _by_kind(topology).values():
    stride = -(-len(pairs) // _MOST_OF_A_KIND)
    chosen.extend(pairs[::stride])
  return tuple(sorted(chosen))


def complete(
  topology: device_lib.DeviceTopology, links: Sequence[device_lib.Link]
) -> tuple[device_lib.Link, ...]:
  """A link for each ordered pair of different devices.

  Args:
    topology: D devices.
    links: those that were measured.

  Returns:
    D * (D - 1) links, sorted by source and target; those that were not
    measured have no samples.
  """
  known = {(link.source, link.target): link for link in links}
  result = []
  for pairs in _by_kind(topology).values():
    measured = [known[pair] for pair in pairs if pair in known]
    if not measured:
      continue
    typical = {
      name: statistics.median(getattr(link, name) for link in measured)
      for name in _COSTS
    }
    result.extend(
      known.get(pair) or device_lib.Link(*pair, **typical) for pair in pairs
    )
  return tuple(sorted(result, key=lambda link: (link.source, link.target)))


def _by_kind(
  topology: device_lib.DeviceTopology,
) -> dict[tuple[str, str], list[tuple[int, int]]]:
  kinds = collections.defaultdict(list)
  for i, source in enumerate(topology.devices):
    for j, target in enumerate(topology.devices):
      if i != j:
        kinds[source.type, target.type].append((i, j))
  return kinds
