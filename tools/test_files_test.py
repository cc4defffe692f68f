"""Every test file runs its tests when it is run as a program.

Bazel does run it so; without the call at its end a file would pass with no
test run.
"""

import ast
import pathlib

from absl.testing import absltest

_ROOT = pathlib.Path(__file__).parents[1]


def runs_tests(source: str) -> bool:
  """Returns whether `if __name__ == '__main__':` calls some main()."""
  for statement in ast.parse(source).body:
    if isinstance(statement, ast.If) and '__name__' in ast.unparse(
      statement.test
    ):
      return any('main(' in ast.unparse(line) for line in statement.body)
  return False


class TestFilesTest(absltest.TestCase):
  def test_runs_tests(self):
    guard = "if __name__ == '__main__':\n  "
    self.assertTrue(runs_tests(guard + 'absltest.main()'))
    self.assertFalse(runs_tests(guard + 'pass'))
    self.assertFalse(runs_tests('absltest'))

  def test_each_file_does(self):
    files = [
      file
      for folder in ('placer', 'benchmarks', 'tools')
      for file in sorted((_ROOT / folder).rglob('*_test.py'))
    ]
    self.assertNotEmpty(files)
    idle = [
      str(file.relative_to(_ROOT))
      for file in files
      if not runs_tests(file.read_text(encoding='utf-8'))
    ]
    self.assertEmpty(
      idle, "these lack: if __name__ == '__main__': absltest.main()"
    )


if __name__ == '__main__':
  absltest.main()
