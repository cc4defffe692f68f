"""Cores: which ones this process may use, and how to share them out.

Workers get disjoint sets of cores. A set stays within one NUMA node where it
can, so that `local:2` on a host with two sockets is a worker a socket.
"""

import os
import pathlib
import re
from collections.abc import Sequence

_NODES = pathlib.Path('/sys/devices/system/node')


def usable() -> tuple[int, ...]:
  """The cores this process may use, in ascending order."""
  if hasattr(os, 'sched_getaffinity'):
    return tuple(sorted(os.sched_getaffinity(0)))
  return tuple(range(os.cpu_count() or 1))


def parse_list(text: str) -> tuple[int, ...]:
  """Reads the kernel's list format: '0-3,8' is (0, 1, 2, 3, 8)."""
  cores: list[int] = []
  for part in text.strip().split(','):
    first, _, last = part.partition('-')
    if first:
      cores.extend(range(int(first), int(last or first) + 1))
  return tuple(cores)


def numa_nodes(
  cores: Sequence[int], root: pathlib.Path = _NODES
) -> tuple[tuple[int, ...], ...]:
  """Groups cores by NUMA node.

  Args:
    cores: the cores to group.
    root: the kernel's folder of nodes; another one in tests.

  Returns:
    One tuple a node that has some of `cores`; all of them in one tuple where
    the kernel names no nodes.
  """
  groups = []
  left = set(cores)
  folders = [path for path in root.glob('node*') if path.name[4:].isdigit()]
  for folder in sorted(folders, key=lambda path: int(path.name[4:])):
    try:
      members = parse_list((folder / 'cpulist').read_text())
    except (OSError, ValueError):
      continue
    group = tuple(core for core in members if core in left)
    if group:
      groups.append(group)
      left.difference_update(group)
  if left:
    groups.append(tuple(sorted(left)))
  return tuple(groups)


def share(
  nodes: Sequence[Sequence[int]], workers: int
) -> tuple[tuple[int, ...], ...]:
  """Shares cores out to workers, each within a node if possible.

  Args:
    nodes: cores by NUMA node.
    workers: how many sets to make; at most the number of cores.

  Returns:
    `workers` disjoint sets of the same size; cores that are left over when
    the number does not divide stay free, for the measuring client.
  """
  per_worker = sum(len(node) for node in nodes) // workers
  whole = sum(len(node) // per_worker for node in nodes)
  if whole >= workers:
    sets = [
      tuple(node[i * per_worker : (i + 1) * per_worker])
      for node in nodes
      for i in range(len(node) // per_worker)
    ]
    return tuple(sets[:workers])
  # Some set must cross nodes: deal the cores in the order of the nodes.
  line = [core for node in nodes for core in node]
  return tuple(
    tuple(line[i * per_worker : (i + 1) * per_worker]) for i in range(workers)
  )


def cpu_model() -> str:
  """The processor's name, '' where the kernel does not tell."""
  try:
    text = pathlib.Path('/proc/cpuinfo').read_text()
  except OSError:
    return ''
  match = re.search(r'^model name\s*:\s*(.*)$', text, re.MULTILINE)
  return match.group(1).strip() if match else ''
