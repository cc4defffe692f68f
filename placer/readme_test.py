"""What README.md shows works as printed."""

import ast
import os
import pathlib
import re
import subprocess
import sys

from absl.testing import absltest

from placer.cli import main
from placer.core import placement
from placer.policies import registry
from placer.rewriters import strip
from placer.testing import graphs

_README = pathlib.Path(__file__).resolve().parents[1] / 'README.md'


class ReadmeTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.text = _README.read_text()
    self.code = re.findall(r'```python\n(.*?)```', self.text, re.DOTALL)

  def test_the_python_example_runs_as_printed(self):
    code = self.code[0]
    folder = self.create_tempdir().full_path
    graph_def = graphs.fork_join()
    target = os.path.join(folder, 'placer_output', 'model')
    os.makedirs(target)
    pathlib.Path(folder, 'model.pb').write_bytes(graph_def.SerializeToString())
    devices = {node.name: '/device:CPU:0' for node in graph_def.node}
    placement.Placement(devices).save(os.path.join(target, 'placement.json'))
    before = os.getcwd()
    self.addCleanup(os.chdir, before)
    os.chdir(folder)
    names: dict[str, object] = {}
    exec(compile(code, str(_README), 'exec'), names)
    self.assertEqual(strip.devices(names['placed']), devices)

  def test_the_quickstart_for_functions_runs_as_printed(self):
    code = self.code[1]
    self.assertLessEqual(len(ast.parse(code).body), 10)
    folder = self.create_tempdir().full_path
    script = pathlib.Path(folder, 'quickstart.py')
    script.write_text(code)
    search = os.pathsep.join(os.path.abspath(p or '.') for p in sys.path)
    done = subprocess.run(
      [sys.executable, str(script)],
      cwd=folder,
      env=os.environ | {'PLACER_CACHE_DIR': folder, 'PYTHONPATH': search},
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertRegex(done.stdout, r'tf.Tensor\(2\.0(.|\n)*ops asked for')

  def test_every_policy_and_exit_code_is_in_it(self):
    for name in registry.names():
      self.assertIn(f'`{name}`', self.text)
    codes = re.search(r'Exit codes: (.*?)"""', main.__doc__ + '"""', re.DOTALL)
    self.assertIsNotNone(codes)
    for code in range(5):
      self.assertRegex(self.text, rf'\b{code} [a-z]')


if __name__ == '__main__':
  absltest.main()
