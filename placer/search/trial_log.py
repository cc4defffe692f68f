"""TrialLog: every trial of a search, on disk as soon as it is measured.

The file `trials.jsonl`, one JSON value a line:

    {"schema": 1, "problem": "fingerprint", "command": [...], "config": {...}}
    {"index": 0, "policy": …}       `Trial.to_json`, in the order of measuring
    …

What was measured together is one write, flushed and fsynced before the search
goes on, so a killed search loses at most the trials that it was measuring: one
on real devices, a batch in simulation, where waiting for the disk after each
would take longer than the trial. A last line that was cut off is dropped when
the file is opened again, and cut from the file. A log of the same problem is
resumed from; one of another problem is refused. While a search has the log
open it holds a lock on it.
"""

import dataclasses
import fcntl
import json
import os
import pathlib
import types
from collections.abc import Mapping, Sequence
from typing import Any

from placer.core import errors
from placer.core import trial as trial_lib

SCHEMA = 1
# What the first line starts with, however early it was cut off.
_START = b'{"schema": '


@dataclasses.dataclass(frozen=True)
class Header:
  """The first line of a log.

  Attributes:
    problem: `PlacementProblem.fingerprint`; decides whether a log is resumed.
    command: the command line, for people.
    config: what the search was told, for people: {name: JSON value}.
  """

  problem: str
  command: tuple[str, ...] = ()
  config: Mapping[str, Any] = dataclasses.field(default_factory=dict)

  def to_json(self) -> dict[str, Any]:
    """A dict for the first line."""
    return {
      'schema': SCHEMA,
      'problem': self.problem,
      'command': list(self.command),
      'config': dict(self.config),
    }


class TrialLog:
  """An open log; see the module docstring.

  Attributes:
    path: the file.
    trials: list of all trials in it, in order.
    resumed: how many of them were there when it was opened.
  """

  def __init__(self, path: str | os.PathLike[str], header: Header) -> None:
    """Opens or creates a log, and locks it.

    Args:
      path: `trials.jsonl`; its folder must exist.
      header: of this search.

    Raises:
      UsageError: another process has it open, it belongs to another problem,
        it has another schema, or it is not a log.
    """
    self.path = pathlib.Path(path)
    self._file = _open_locked(self.path)
    try:
      lines, good_bytes = _complete_lines(self._file.read(), self.path)
      if lines:
        _check_header(lines[0], header, self.path)
      self.trials = [_trial(line, self.path) for line in lines[1:]]
      self._file.seek(good_bytes)
      self._file.truncate()
      if not lines:
        self._write(header.to_json())
        _sync_folder(self.path.parent)
    except BaseException:
      self._file.close()
      raise
    self.resumed = len(self.trials)

  def append(self, trial: trial_lib.Trial) -> None:
    """Writes one trial; it is on disk when this returns."""
    self.extend([trial])

  def extend(self, trials: Sequence[trial_lib.Trial]) -> None:
    """Writes trials; all of them are on disk when this returns."""
    self._write(*(trial.to_json() for trial in trials))
    self.trials.extend(trials)

  def close(self) -> None:
    """Closes the file and gives the lock back; safe to call twice."""
    self._file.close()

  def __enter__(self) -> 'TrialLog':
    return self

  def __exit__(
    self,
    exc_type: type[BaseException] | None,
    exc: BaseException | None,
    traceback: types.TracebackType | None,
  ) -> None:
    self.close()

  def _write(self, *payloads: Mapping[str, Any]) -> None:
    lines = [json.dumps(payload, default=_plain) for payload in payloads]
    self._file.write(''.join(f'{line}\n' for line in lines).encode())
    self._file.flush()
    os.fsync(self._file.fileno())


def read(
  path: str | os.PathLike[str],
) -> tuple[dict[str, Any], list[trial_lib.Trial]]:
  """Reads a log without locking or repairing it.

  Args:
    path: a `trials.jsonl`, also of a search that is running.

  Returns:
    The header's dict and the trials, without a last line that was cut off.

  Raises:
    UsageError: no such file, or not a log of this schema.
  """
  path = pathlib.Path(path)
  try:
    data = path.read_bytes()
  except OSError as error:
    raise errors.UsageError(
      f'Cannot read the trial log {str(path)!r}: {error.strerror}.'
    ) from error
  lines, _ = _complete_lines(data, path)
  if not lines:
    raise errors.UsageError(f'The trial log {str(path)!r} is empty.')
  _check_schema(lines[0], path)
  return lines[0], [_trial(line, path) for line in lines[1:]]


def _open_locked(path: pathlib.Path):
  try:
    # Not append mode: after a repair the file must be written where it ends.
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), 'r+b')
  except OSError as error:
    raise errors.UsageError(
      f'Cannot open the trial log {str(path)!r}: {error.strerror}. Pass an '
      '--output_dir that exists and can be written.'
    ) from error
  try:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
  except OSError as error:
    file.close()
    raise errors.UsageError(
      f'Another placer process is writing {str(path)!r}. Wait for it, or '
      'pass another --output_dir.'
    ) from error
  return file


def _complete_lines(
  data: bytes, path: pathlib.Path
) -> tuple[list[dict[str, Any]], int]:
  """The lines that decode, and how many bytes they take.

  Only the last line may be damaged: it was being written at the crash. (Cut
  off, or of zero bytes where the machine itself went down.)
  """
  lines: list[dict[str, Any]] = []
  good = 0
  pieces = data.split(b'\n')
  for number, piece in enumerate(pieces[:-1], 1):
    try:
      value = json.loads(piece)
    except ValueError as error:
      if number >= len(pieces) - 1 and not pieces[-1] and lines:
        break
      raise errors.UsageError(
        f'{str(path)!r} is not a trial log: line {number} is not JSON. '
        'Delete it, or pass another --output_dir.'
      ) from error
    lines.append(value)
    good += len(piece) + 1
  if not lines and not _START.startswith(data[: len(_START)].strip(b'\0')):
    raise errors.UsageError(
      f'{str(path)!r} is not a trial log. Delete it, or pass another '
      '--output_dir.'
    )
  return lines, good


def _check_schema(found: Any, path: pathlib.Path) -> None:
  schema = found.get('schema') if isinstance(found, dict) else None
  if schema != SCHEMA:
    raise errors.UsageError(
      f'{str(path)!r} has trial log schema {str(schema)[:40]!r}; this placer '
      f'reads schema {SCHEMA}. Delete it, or pass another --output_dir.'
    )


def _check_header(found: Any, wanted: Header, path: pathlib.Path) -> None:
  _check_schema(found, path)
  if found.get('problem') == wanted.problem:
    return
  config = found.get('config', {})
  differences = [
    f'{key} was {config.get(key)!r}, now {wanted.config.get(key)!r}'
    for key in sorted({*config, *wanted.config})
    if config.get(key) != wanted.config.get(key)
  ]
  what = '; '.join(differences) or 'the graph itself has changed'
  raise errors.UsageError(
    f'{str(path)!r} holds the trials of another problem '
    f'({found.get("problem")}, now {wanted.problem}): {what}. Pass another '
    '--output_dir, or delete the file to start afresh.'
  )


def _trial(line: Any, path: pathlib.Path) -> trial_lib.Trial:
  try:
    return trial_lib.from_json(line)
  except (KeyError, TypeError, ValueError, AttributeError) as error:
    raise errors.UsageError(
      f'{str(path)!r} has a line that is not a trial: {str(line)[:60]!r}. '
      'Delete the file, or pass another --output_dir.'
    ) from error


def _plain(value: Any) -> Any:
  """Numpy's numbers in a measurement's details, which json can't write."""
  return value.tolist() if hasattr(value, 'tolist') else str(value)


def _sync_folder(folder: pathlib.Path) -> None:
  """Makes the new file's name itself survive a crash of the machine."""
  descriptor = os.open(folder, os.O_RDONLY)
  try:
    os.fsync(descriptor)
  finally:
    os.close(descriptor)


def elapsed_seconds(trials: Sequence[trial_lib.Trial]) -> float:
  """How long a search had run when its last trial ended, 0 for none."""
  return max((trial.elapsed_seconds for trial in trials), default=0.0)
