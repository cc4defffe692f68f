import os
import pathlib
import subprocess
import sys

from absl.testing import absltest

_ROOT = pathlib.Path(__file__).parents[2]
_SIMULATE = """
import sys
from placer.core import cost_model
from placer.simulation import simulator
from placer.testing import problems
assert 'numba' not in sys.modules, 'numba is imported before it is needed'
problem = problems.chain(4, devices=problems.topology(2, linked=True))
costs = cost_model.build(problem.graph, problem.devices, [1.0] * 4)
print(simulator.simulate(problem, costs, [[0, 0, 0, 0]]).step_time_seconds)
"""


class CompiledTest(absltest.TestCase):
  def test_compiled_code_goes_to_the_cache_folder(self):
    folder = self.create_tempdir().full_path
    environment = dict(os.environ, PLACER_CACHE_DIR=folder)
    environment.pop('NUMBA_CACHE_DIR', None)
    environment['PYTHONPATH'] = os.pathsep.join([str(_ROOT), *sys.path])
    done = subprocess.run(
      [sys.executable, '-c', _SIMULATE],
      env=environment,
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertEqual(done.stdout.strip(), '[4.]')
    files = [file.name for file in pathlib.Path(folder).rglob('*.nbc')]
    self.assertLen(files, 1)
    self.assertStartsWith(files[0], 'kernel.run_batch')


if __name__ == '__main__':
  absltest.main()
