"""placer: finds the device placement that makes a TensorFlow step fastest.

    placer inspect --graph=model.pb                     what is in it
    placer place   --graph=model.pb --devices=auto      search, measure, write
    placer measure --graph=model.pb --placement=p.json  time one placement

`placer COMMAND --help` explains a command and its flags. Try it without a
model of your own: `placer place --model=inception_v3 --devices=local:2`.

Exit codes: 0 done; 1 usage; 2 the graph could not be imported; 3 no placement
runs on these devices; 4 no improvement where --require_improvement asked for
one.
"""

import difflib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from absl import app
from absl import flags
from absl import logging

from placer.core import errors

_INTERRUPTED = 130


def main_entry() -> None:
  """The console script: runs the command of `sys.argv` and exits."""
  # TensorFlow reads these when it is imported; its start-up lines would bury
  # ours, and no process of this tool's own needs a GPU.
  os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
  os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '1')
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
  except KeyboardInterrupt:
    print('placer: interrupted.', file=sys.stderr)
    return _INTERRUPTED


def commands() -> dict[str, ModuleType]:
  """The commands by name; each module has SUMMARY, define and run."""
  from placer.cli import inspect_command
  from placer.cli import measure_command
  from placer.cli import place_command

  return {
      'inspect': inspect_command,
      'place': place_command,
      'measure': measure_command,
  }


def _command(name: str) -> ModuleType:
  found = commands()
  if name in found:
    return found[name]
  close = difflib.get_close_matches(name, found, n=1)
  hint = f' Did you mean {close[0]!r}?' if close else ''
  raise errors.UsageError(
      f'There is no command {name!r}.{hint} Commands: {", ".join(found)}. '
      '`placer --help` explains them.'
  )


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
        f'{rest[1]!r} is not a flag. Write --flag=value, e.g. '
        f'--graph={rest[1]}.'
    )
  return command.run(values, list(argv))


def _parse_nothing(argv: Sequence[str]) -> Sequence[str]:
  """Commands have flags of their own; absl's global ones stay unparsed."""
  flags.FLAGS.mark_as_parsed()
  return argv


if __name__ == '__main__':
  main_entry()
