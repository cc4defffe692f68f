"""placer: finds the device placement that makes a TensorFlow step fastest.

    placer inspect --graph=model.pb                     what is in it
    placer place   --graph=model.pb --devices=auto      search, measure, write
    placer measure --graph=model.pb --placement=p.json  time one placement
    placer train   --graphs='family/*.pb'               train a learned policy

`placer COMMAND --help` explains a command and its flags. Try it without a
model of your own: `placer place --model=inception_v3 --devices=local:2`.

Exit codes: 0 done; 1 usage; 2 the graph could not be imported; 3 no placement
runs on these devices; 4 no improvement where --require_improvement asked for
one.
"""

import contextlib
import difflib
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType

from absl import app
from absl import flags
from absl import logging

from placer.core import errors

_COMMANDS = ('inspect', 'place', 'measure', 'train')
_INTERRUPTED = 130


def main_entry() -> None:
  """The console script: runs the command of `sys.argv` and exits."""
  # TensorFlow reads it when it is imported; its lines would bury ours.
  os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
  app.run(lambda argv: sys.exit(main(argv)), flags_parser=_parse_nothing)


def main(argv: Sequence[str]) -> int:
  """Runs a command.

  Args:
    argv: the command line, the program's name first.

  Returns:
    The exit code.
  """
  logging.set_verbosity(logging.WARNING)
  try:
    if len(argv) < 2 or argv[1] in ('help', '--help', '-h', '--helpfull'):
      print(__doc__)
      return 0 if len(argv) > 1 else errors.UsageError.exit_code
    command = _command(argv[1])
    return _run(command, argv)
  except errors.PlacerError as error:
    print(f'placer: {error}', file=sys.stderr)
    return error.exit_code
  except flags.Error as error:
    print(
      f'placer {argv[1]}: {error} `placer {argv[1]} --help` lists the flags.',
      file=sys.stderr,
    )
    return errors.UsageError.exit_code
  except BrokenPipeError:
    # Whoever read our output has seen enough; don't fail again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0
  except OSError as error:
    # A full disk, a folder that went away: what was written so far stays.
    where = f' ({error.filename})' if error.filename else ''
    print(
      f'placer: {error.strerror or error}{where}. Trials that were measured '
      'are in trials.jsonl; the same command goes on with them.',
      file=sys.stderr,
    )
    return errors.UsageError.exit_code
  except KeyboardInterrupt:
    print('placer: interrupted.', file=sys.stderr)
    return _INTERRUPTED


def _command(name: str) -> ModuleType:
  """The module of a command, with define(values) and run(values, argv)."""
  if name in _COMMANDS:
    with _quiet_start():
      import tensorflow  # noqa: F401 - so that it is here that it starts
    return importlib.import_module(f'placer.cli.{name}_command')
  close = difflib.get_close_matches(name, _COMMANDS, n=1)
  hint = f' Did you mean {close[0]!r}?' if close else ''
  raise errors.UsageError(
    f'There is no command {name!r}.{hint} Commands: {", ".join(_COMMANDS)}. '
    '`placer --help` explains them.'
  )


@contextlib.contextmanager
def _quiet_start() -> Iterator[None]:
  """Drops what TensorFlow 2.21 prints at import, whatever its log level."""
  sys.stderr.flush()
  kept = os.dup(2)
  with open(os.devnull, 'wb') as nowhere:
    os.dup2(nowhere.fileno(), 2)
  try:
    yield
  finally:
    os.dup2(kept, 2)
    os.close(kept)


def _run(command: ModuleType, argv: Sequence[str]) -> int:
  values = flags.FlagValues()
  command.define(values)
  if '--help' in argv or '-h' in argv:
    print(command.__doc__)
    print(values.main_module_help() or values.get_help(prefix=''))
    return 0
  rest = values(list(argv[1:]))
  if len(rest) > 1:
    raise errors.UsageError(
      f'{rest[1]!r} is not a flag. Write --flag=value, e.g. --graph={rest[1]}.'
    )
  for name, value in values.flag_values_dict().items():
    if isinstance(value, float) and not value < 1e9:
      raise errors.UsageError(
        f'--{name}={value}: give a number below 1e9 (--budget_seconds=0 is no '
        'limit).'
      )
  status = command.run(values, list(argv))
  sys.stdout.flush()
  return status


def _parse_nothing(argv: Sequence[str]) -> Sequence[str]:
  """Commands have flags of their own; absl's global ones stay unparsed."""
  flags.FLAGS.mark_as_parsed()
  return argv


if __name__ == '__main__':
  main_entry()
