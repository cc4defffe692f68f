"""Built-in models, made in a child process and cached as MetaGraph files.

The child keeps this process' TensorFlow untouched (DESIGN §3.16). A file is
named by what decides its content: the model, its options, the sources of
`benchmarks/models` and TensorFlow's version.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys

from placer.core import cache_folder
from placer.core import errors

_PACKAGE = 'benchmarks.models'


def path_of(name: str, *, training: bool, batch_size: int | None) -> str:
  """The MetaGraph file of a built-in model; built if it is not cached.

  Args:
    name: 'inception_v3'.
    training: a training step instead of inference.
    batch_size: examples a step; None for the model's default.

  Returns:
    The path of a binary MetaGraphDef.

  Raises:
    UsageError: no such model; the message has the choices.
  """
  folder = _source_folder()
  options = [f'--model={name}', f'--training={"true" if training else "false"}']
  if batch_size is not None:
    options.append(f'--batch_size={batch_size}')
  key = _key(folder, options)
  step = 'training' if training else 'inference'
  file = cache_folder.find('models') / f'{name}-{step}-{key}.meta'
  if not file.exists():
    _build(options, file)
  return str(file)


def listing() -> str:
  """A line a model: name, default batch size, what it is."""
  return _run(['--list']).stdout.strip()


def _source_folder() -> pathlib.Path:
  spec = importlib.util.find_spec(_PACKAGE)
  if spec is None or spec.origin is None:
    raise errors.UsageError(
      '--model needs the package benchmarks.models, which is not installed. '
      'Pass --graph=FILE instead.'
    )
  return pathlib.Path(spec.origin).parent


def _key(folder: pathlib.Path, options: list[str]) -> str:
  digest = hashlib.sha256()
  for file in sorted(folder.rglob('*.py')):
    if not file.name.endswith('_test.py'):
      digest.update(file.read_bytes())
  for package in ('tensorflow', 'keras'):
    digest.update(importlib.metadata.version(package).encode())
  digest.update(repr(options).encode())
  return digest.hexdigest()[:12]


def _build(options: list[str], file: pathlib.Path) -> None:
  partial = file.with_name(f'{file.name}.{os.getpid()}.partial')
  done = _run([*options, f'--output={partial}'])
  if done.returncode:
    partial.unlink(missing_ok=True)
    raise errors.UsageError(_reason(done.stdout + '\n' + done.stderr))
  partial.replace(file)


def _reason(output: str) -> str:
  """The line of a failed build that says why."""
  lines = [line.strip() for line in output.splitlines() if line.strip()]
  for line in reversed(lines):
    if 'nknown model' in line or 'FATAL' in line or 'Error' in line:
      return f'Cannot build --model: {line}'
  return f'Cannot build --model: {lines[-1] if lines else "no output"}'


def _run(options: list[str]) -> subprocess.CompletedProcess[str]:
  environment = dict(os.environ)
  environment['PYTHONPATH'] = os.pathsep.join(p for p in sys.path if p)
  environment.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
  environment['CUDA_VISIBLE_DEVICES'] = '-1'
  return subprocess.run(
    [sys.executable, '-m', _PACKAGE, *options],
    env=environment,
    stdin=subprocess.DEVNULL,
    capture_output=True,
    text=True,
    check=False,
  )
