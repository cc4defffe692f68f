r"""Op paths: one name for every op, inside function bodies too.

A GraphDef names its nodes; a function that one node calls names its own
nodes again, and two callers may share one function. An *op path* names an op
by how it is reached:

    dense/MatMul                      a node of the main graph
    call@f/dense/MatMul               `dense/MatMul` in the function that node
                                      `call` names in its attribute `f`
    call@f/loop@body/add              nested: a loop body inside that function
    case@branches.1/add               second entry of a list of functions

'@' may not occur in a TensorFlow node name, so paths are unambiguous, and the
path of a node of the main graph is its name. Paths are what `placement.json`,
reports and trials use; they always refer to the graph *as the user gave it*.
"""

import re

_HOP = re.compile(r'@([A-Za-z_][A-Za-z0-9_]*(?:\.\d+)?)/')


def split(path: str) -> tuple[tuple[tuple[str, str], ...], str]:
  """Splits an op path into its hops and the name of the op.

  Args:
    path: an op path, e.g. 'call@f/loop@body/add'.

  Returns:
    A pair of the hops, each (node name, attribute), outermost first, and the
    node's name in the innermost body: `((('call', 'f'), ('loop', 'body')),
    'add')`.
  """
  pieces = _HOP.split(path)
  hops = tuple(zip(pieces[0:-1:2], pieces[1::2], strict=True))
  return hops, pieces[-1]


def join(hops: tuple[tuple[str, str], ...], name: str) -> str:
  """The inverse of `split`."""
  return ''.join(f'{node}@{attr}/' for node, attr in hops) + name


def enter(path: str, attr: str) -> str:
  """The prefix of all ops in the body that op `path` names in `attr`."""
  return f'{path}@{attr}/'
