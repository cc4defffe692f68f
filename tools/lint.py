"""Checks the style of the whole repository with ruff.

  ./bazelw run //tools:lint             says what is wrong
  ./bazelw run //tools:lint -- --fix    repairs what can be repaired

The rules are in pyproject.toml. Without Bazel: python tools/lint.py. The exit
code is 0 if nothing is wrong, else 1.
"""

import os
import pathlib
import subprocess
import sys


def main(arguments: list[str]) -> int:
  """Runs ruff's two checks and returns the exit code."""
  if arguments not in ([], ['--fix']):
    print('lint takes --fix or nothing', file=sys.stderr)
    return 1
  root = os.environ.get('BUILD_WORKSPACE_DIRECTORY')
  root = root or str(pathlib.Path(__file__).resolve().parents[1])
  format_flags = [] if arguments else ['--check']
  failed = False
  for command in (['check', *arguments], ['format', *format_flags]):
    ruff = [sys.executable, '-m', 'ruff', *command]
    done = subprocess.run(
      [*ruff, '--output-format=concise', '.'], cwd=root, check=False
    )
    failed |= done.returncode != 0
  return int(failed)


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
