"""Imports point one way: every import in placer/ against placer/layers.bzl.

Read are all Python files of this package, by their syntax tree, so imports
inside functions count too. Rules, beside the table's:

* `placer/__init__.py` may import anything, but nothing of placer when it is
  itself imported: `import placer.core` must not load TensorFlow.
* `placer/testing/` may import anything and is imported by tests only. Tests
  (`*_test.py`) may import anything.
* `benchmarks` is imported by the layer cli only.
* `core` imports numpy, absl and the standard library only.
* `core`, `simulation` and `reports` load no TensorFlow when imported.
* `network.py` of a learned policy knows tensors, not the nouns of core.
* Imports are absolute, and name modules: `import placer` is for users.
"""

import ast
import dataclasses
import pathlib
import sys
from collections.abc import Iterator

from absl.testing import absltest
from absl.testing import parameterized

_PACKAGE = pathlib.Path(__file__).parent
_WITHOUT_TENSORFLOW = ('core', 'simulation', 'reports')
_TENSORFLOW = frozenset(
  {
    'graph_nets',
    'keras',
    'sonnet',
    'tensorflow',
    'tensorflow_probability',
    'tf_keras',
  }
)
_CORE_MAY_IMPORT = sys.stdlib_module_names | {'absl', 'numpy', 'placer'}


def read_layers(text: str) -> dict[str, list[str]]:
  """Returns LAYERS of layers.bzl, whose syntax is Python's too."""
  for statement in ast.parse(text).body:
    if isinstance(statement, ast.Assign):
      return ast.literal_eval(statement.value)
  raise ValueError('layers.bzl assigns nothing')


@dataclasses.dataclass(frozen=True)
class Import:
  """One imported name.

  Attributes:
    line: line of the statement, from 1.
    module: dotted name, e.g. 'placer.core.placement'; with leading dots if it
      is relative.
    lazy: whether it waits for a function to be called or for a type checker.
  """

  line: int
  module: str
  lazy: bool


def _literal_start(node: ast.expr) -> str:
  """Returns what a string expression surely starts with, maybe ''."""
  if isinstance(node, ast.JoinedStr) and node.values:
    node = node.values[0]
  if isinstance(node, ast.Constant) and isinstance(node.value, str):
    return node.value
  return ''


def _names(node: ast.AST) -> list[str]:
  """Returns the dotted names that one node of the syntax tree imports."""
  if isinstance(node, ast.Import):
    return [alias.name for alias in node.names]
  if isinstance(node, ast.ImportFrom):
    start = '.' * node.level + (node.module or '')
    return [f'{start}.{alias.name}' for alias in node.names]
  if isinstance(node, ast.Call) and node.args:
    called = ast.unparse(node.func).rpartition('.')[2]
    if called in ('import_module', '__import__'):
      name = _literal_start(node.args[0])
      return [name] if name else []
  return []


def find_imports(node: ast.AST, lazy: bool = False) -> Iterator[Import]:
  """Yields the imports below a node, statements and import_module() alike."""
  for child in ast.iter_child_nodes(node):
    for name in _names(child):
      yield Import(child.lineno, name, lazy)
    deferred = isinstance(
      child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    ) or (
      isinstance(child, ast.If) and 'TYPE_CHECKING' in ast.unparse(child.test)
    )
    yield from find_imports(child, lazy or deferred)


def layer_of_file(path: str, layers: dict[str, list[str]]) -> str | None:
  """Returns the layer of a file, None outside the table.

  Args:
    path: path relative to placer/, with slashes.
    layers: the table.
  """
  folder, _, rest = path.partition('/')
  # Whoever imports policies/base.py runs policies/__init__.py.
  if rest in ('base.py', '__init__.py') and f'{folder}/base' in layers:
    return f'{folder}/base'
  return folder if rest and folder in layers else None


def layer_of_module(module: str, layers: dict[str, list[str]]) -> str | None:
  """Returns the layer of 'placer.….…', None outside the table."""
  parts = module.split('.')[1:]
  if '/'.join(parts[:2]) in layers:
    return '/'.join(parts[:2])
  return parts[0] if parts and parts[0] in layers else None


def _placer_rule(
  path: str, layer: str, found: Import, layers: dict[str, list[str]]
) -> str:
  """Returns the rule that an import of placer breaks, '' if none."""
  if found.module.startswith('placer.testing'):
    return 'placer.testing is for tests only'
  target = layer_of_module(found.module, layers)
  if target is None:
    return 'import the module by its name, placer.FOLDER.MODULE'
  if path.startswith('policies/') and path.endswith('/network.py'):
    if target not in ('policies', 'policies/base'):
      return 'a network knows tensors only, nothing of placer but policies'
  if target != layer and target not in layers[layer]:
    choices = ', '.join(layers[layer]) or 'no other layer'
    return f'{layer} may import {choices} (placer/layers.bzl)'
  return ''


def _rule_broken(path: str, found: Import, layers: dict[str, list[str]]) -> str:
  """Returns the rule that an import in the file `path` breaks, '' if none."""
  top = found.module.partition('.')[0]
  if not top:
    return 'imports are absolute'
  if path == '__main__.py':
    return ''
  if path == '__init__.py':
    eager = top in ('placer', 'benchmarks') or top in _TENSORFLOW
    if eager and not found.lazy:
      return 'import it lazily, in __getattr__'
    return ''
  layer = layer_of_file(path, layers)
  if layer is None:
    return 'the file is in no folder that placer/layers.bzl names'
  if top == 'placer':
    return _placer_rule(path, layer, found, layers)
  if top == 'benchmarks' and layer != 'cli':
    return 'only cli imports benchmarks'
  if layer == 'core' and top not in _CORE_MAY_IMPORT:
    return 'core imports numpy, absl and the standard library only'
  if layer in _WITHOUT_TENSORFLOW and top in _TENSORFLOW and not found.lazy:
    return f'{layer} does not load TensorFlow when imported'
  return ''


def violations(
  path: str, source: str, layers: dict[str, list[str]]
) -> list[str]:
  """Returns a message for each import of one file that breaks a rule.

  Args:
    path: path of the file relative to placer/, with slashes.
    source: its text.
    layers: the table.
  """
  if path.endswith('_test.py') or path.startswith('testing/'):
    return []
  messages = []
  for found in find_imports(ast.parse(source)):
    rule = _rule_broken(path, found, layers)
    if rule:
      messages.append(
        f'placer/{path}:{found.line}: imports {found.module}: {rule}'
      )
  return messages


_TABLE = {
  'core': [],
  'importers': ['core'],
  'policies/base': ['core'],
  'policies': ['core', 'policies/base'],
  'search': ['core', 'policies/base'],
  'reports': ['core'],
  'cli': ['core', 'importers', 'policies', 'search', 'reports'],
}


class RulesTest(parameterized.TestCase):
  @parameterized.parameters(
    ('core/placement.py', 'import numpy as np'),
    ('core/placement.py', 'from placer.core import errors'),
    ('importers/saved_model.py', 'import tensorflow as tf'),
    ('policies/placeto/network.py', 'import sonnet as snt'),
    ('policies/placeto/network.py', 'from placer.policies.placeto import a'),
    ('policies/heuristics/annealing.py', 'from placer.policies import base'),
    ('search/loop.py', 'from placer.policies import base'),
    ('search/loop.py', 'from placer.policies.base import Policy'),
    ('reports/events.py', 'def f():\n  import tensorflow as tf'),
    ('cli/main.py', 'from benchmarks.models import registry'),
    ('core/placement_test.py', 'from placer.cli import main'),
    ('testing/graphs.py', 'from placer.importers import base'),
    ('__init__.py', 'def __getattr__(n):\n  from placer.cli import main'),
    ('__main__.py', 'from placer.cli import main'),
  )
  def test_allowed(self, path, source):
    self.assertEmpty(violations(path, source, _TABLE))

  @parameterized.parameters(
    ('core/a.py', 'from placer.importers import base', 'no other layer'),
    ('core/a.py', 'import tensorflow as tf', 'numpy, absl'),
    ('core/a.py', 'from . import errors', 'absolute'),
    ('core/a.py', 'import placer', 'by its name'),
    ('importers/a.py', 'def f():\n  import placer.cli.main', 'may import'),
    ('importers/a.py', 'from placer import policies', 'may import core'),
    ('importers/a.py', 'from placer.testing import graphs', 'tests only'),
    ('importers/a.py', 'm.import_module("placer.cli.main")', 'may import'),
    ('importers/a.py', 'm.import_module(f"placer.cli.{x}")', 'may import'),
    ('search/a.py', 'from placer.policies import registry', 'may import'),
    ('search/a.py', 'from benchmarks import models', 'only cli'),
    ('reports/a.py', 'import tensorflow.core as c', 'not load TensorFlow'),
    ('policies/__init__.py', 'from placer.policies.a import b', 'may import'),
    ('policies/b/network.py', 'from placer.core import errors', 'tensors'),
    ('__init__.py', 'from placer.core import errors', 'lazily'),
    ('version.py', 'import numpy', 'no folder'),
    ('plugins/a.py', 'import numpy', 'no folder'),
  )
  def test_forbidden(self, path, source, rule):
    messages = violations(path, source, _TABLE)
    self.assertLen(messages, 1)
    self.assertRegex(messages[0], rf'^placer/{path}:[12]: imports .*{rule}')


class TreeTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.layers = read_layers(
      (_PACKAGE / 'layers.bzl').read_text(encoding='utf-8')
    )

  def test_a_layer_comes_after_those_it_imports(self):
    earlier = set()
    for layer, dependencies in self.layers.items():
      self.assertContainsSubset(dependencies, earlier, layer)
      earlier.add(layer)

  def test_no_import_breaks_a_rule(self):
    messages = []
    files = sorted(_PACKAGE.rglob('*.py'))
    self.assertIn(_PACKAGE / 'core/__init__.py', files)
    for file in files:
      path = file.relative_to(_PACKAGE).as_posix()
      source = file.read_text(encoding='utf-8')
      messages += violations(path, source, self.layers)
    self.assertEmpty(messages, '\n' + '\n'.join(messages))


if __name__ == '__main__':
  absltest.main()
