"""Program: a graph ready to be run, without a word about where.

All names in it are *working names*: names of nodes of `graph_def`, which is
pruned to the fetches, repaired, and has ordinary function calls inlined. In
function bodies that stay (While, If, Case), working names are op paths
relative to `graph_def` ('loop@body/add').

  graph_def: serialised GraphDef; no node has a device; every library function
    that a functional While/If/Case names has exactly one caller.
  setup_graph_def: serialised GraphDef that gives variables and tables their
    initial values. Nodes that it shares with `graph_def` (the handles) have
    the same name and are the same node; the others go with the handle they
    initialise.
  setup_ops: names of the ops of `setup_graph_def` to run once, in this order,
    before the first step.
  feeds: what a step must be given.
  fetches: tensors ('x:0') or ops ('train') of a step.
  op_paths: working name -> op path in the user's graph, only where they
    differ (`placer.core.op_path`).
  op_libraries: files with custom ops to load first.

`Feed`: one input of a step.
  tensor: working name, 'images:0'.
  dtype: TensorFlow's name of the type, 'float32'.
  shape: static shape, fully known.
  name: what the user calls it.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Feed:
  """One input of a step; see the module docstring."""

  tensor: str
  dtype: str
  shape: tuple[int, ...]
  name: str = ''


@dataclasses.dataclass(frozen=True)
class Program:
  """A graph ready to be run; see the module docstring."""

  graph_def: bytes
  setup_graph_def: bytes = b''
  setup_ops: tuple[str, ...] = ()
  feeds: tuple[Feed, ...] = ()
  fetches: tuple[str, ...] = ()
  op_paths: Mapping[str, str] = dataclasses.field(default_factory=dict)
  op_libraries: tuple[str, ...] = ()

  @functools.cached_property
  def working_names(self) -> dict[str, str]:
    """The inverse of `op_paths`: op path -> working name, where they differ."""
    return {path: name for name, path in self.op_paths.items()}

  def path(self, working_name: str) -> str:
    """The op path in the user's graph of a working name."""
    head, mark, rest = working_name.partition('@')
    return self.op_paths.get(head, head) + mark + rest

  def working_name(self, path: str) -> str:
    """The working name of an op path of the user's graph.

    The op a path names may be inlined (then its whole path was given a
    working name) or be in a body that stays, whose owner was.

    Args:
      path: an op path.

    Returns:
      Its working name.
    """
    names = self.working_names
    if path in names:
      return names[path]
    # The longest prefix that ends before an '@' and was given a name owns it.
    cut = path.rfind('@')
    while cut > 0:
      owner = path[:cut]
      if owner in names:
        return names[owner] + path[cut:]
      cut = path.rfind('@', 0, cut)
    return path

  @functools.cached_property
  def fingerprint(self) -> str:
    """A hash of all that decides what a step computes."""
    digest = hashlib.sha256()
    digest.update(self.graph_def)
    digest.update(self.setup_graph_def)
    digest.update(repr((self.setup_ops, self.feeds, self.fetches)).encode())
    return digest.hexdigest()[:16]
