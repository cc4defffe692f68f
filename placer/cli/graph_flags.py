"""The flags that say which graph, and how to read it; shared by commands."""

from absl import flags

from placer.cli import builtin_models
from placer.cli import paths
from placer.core import errors
from placer.importers import base
from placer.importers import cost_graph as cost_graph_lib
from placer.importers import cost_graph_file

# What they say is of no use for a cost graph.
_OF_TENSORFLOW_GRAPHS = (
  'training',
  'batch_size',
  'fetches',
  'feeds',
  'input_shapes',
  'tags',
  'signature',
  'op_library',
)


def define(values: flags.FlagValues) -> None:
  """Defines the flags in `values`."""
  flags.DEFINE_string(
    'graph',
    None,
    'GraphDef or MetaGraphDef file (binary or text, any suffix), or a '
    'SavedModel folder; or, to be planned in simulation, a graph of measured '
    'costs (JSON of dnn-partitioning, text of PipeDream).',
    flag_values=values,
  )
  flags.DEFINE_string(
    'model',
    None,
    'Built-in model instead of --graph; --model=list names them.',
    flag_values=values,
  )
  flags.DEFINE_boolean(
    'training',
    False,
    'Of --model: a training step (forward, backward, update).',
    flag_values=values,
  )
  flags.DEFINE_integer(
    'batch_size',
    None,
    'Examples a step: of --model, and of unknown first dimensions of feeds.',
    lower_bound=1,
    flag_values=values,
  )
  flags.DEFINE_list(
    'fetches',
    [],
    'Tensors (x:0) or ops of a step. Default: the train_op collection, else '
    'the signature, else the optimiser, else what nothing reads.',
    flag_values=values,
  )
  flags.DEFINE_list(
    'feeds',
    [],
    'Tensors to be fed. Default: the signature, and every placeholder that '
    'the fetches need.',
    flag_values=values,
  )
  flags.DEFINE_multi_string(
    'input_shapes',
    [],
    'Shape of a feed, NAME=2,224,224,3; repeat it for several. -1 leaves a '
    'dimension as it is in the graph.',
    flag_values=values,
  )
  flags.DEFINE_list(
    'tags', [], 'Tags of the MetaGraph in a SavedModel.', flag_values=values
  )
  flags.DEFINE_string('signature', '', 'Signature to run.', flag_values=values)
  flags.DEFINE_multi_string(
    'op_library',
    [],
    'Shared library with custom ops; repeat it for several.',
    flag_values=values,
  )


def load(values: flags.FlagValues) -> base.ImportedGraph:
  """Imports the graph that the flags name.

  Args:
    values: parsed flags of `define`.

  Returns:
    The ImportedGraph.

  Raises:
    UsageError: neither or both of --graph and --model, or a bad value.
    GraphImportError: the graph cannot be imported.
  """
  if values.model == 'list':
    print(builtin_models.listing())
    raise SystemExit(0)
  if bool(values.graph) == bool(values.model):
    raise errors.UsageError(
      'Pass one of --graph=FILE and --model=NAME (--model=list names the '
      'built-in models).'
    )
  if values.training and not values.model:
    raise errors.UsageError(
      '--training is of --model only; choose what a --graph computes with '
      '--fetches.'
    )
  options = base.ImportOptions(
    fetches=tuple(values.fetches),
    feeds=tuple(values.feeds),
    input_shapes=dict(_shape(text) for text in values.input_shapes),
    batch_size=values.batch_size,
    tags=tuple(values.tags),
    signature=values.signature,
    op_libraries=tuple(paths.user_path(p) for p in values.op_library),
  )
  if values.model:
    return base.load(
      builtin_models.path_of(
        values.model,
        training=values.training,
        batch_size=values.batch_size,
      ),
      options,
    )
  return base.load(paths.user_path(values.graph), options)


def cost_graph(values: flags.FlagValues) -> cost_graph_lib.CostGraph | None:
  """The graph of measured costs that --graph names.

  Args:
    values: parsed flags of `define`.

  Returns:
    The CostGraph, or None where --graph is none; then `load` reads it, or says
    what it is.

  Raises:
    UsageError: flags that make no sense for it were given.
    GraphImportError: it has a mistake.
  """
  if not values.graph or values.model:
    return None
  found = cost_graph_file.read(paths.user_path(values.graph))
  given = [name for name in _OF_TENSORFLOW_GRAPHS if values[name].value]
  if found is not None and given:
    raise errors.UsageError(
      f'--{given[0]} is of TensorFlow graphs; {found.source!r} is a graph of '
      'measured costs. Leave it out.'
    )
  return found


def title(values: flags.FlagValues) -> str:
  """A name for reports and folders: the model's or the file's."""
  if values.model:
    return values.model + ('-training' if values.training else '')
  name = paths.user_path(values.graph).rstrip('/').rpartition('/')[2]
  return name.rpartition('.')[0] or name


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
  name, _, dims = text.rpartition('=')
  try:
    if not name:
      raise ValueError
    return name, tuple(int(d) for d in dims.split(',') if d.strip())
  except ValueError:
    raise errors.UsageError(
      f'--input_shapes={text}: write NAME=2,224,224,3 (for a scalar: NAME=).'
    ) from None
