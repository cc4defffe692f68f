"""Placement: op path -> full device name, and its JSON file.

  devices: {op path: full device name}; ops that are not named inherit nothing
    and stay where TensorFlow puts them.

The file `placement.json` is

    {"schema": 1,
     "graph_fingerprint": "…",     of the OpGraph it was found for, or ""
     "devices_spec": "local:2",    what --devices was, or ""
     "devices": {"op path": "/job:…/device:CPU:0", …}}
"""

import collections
import dataclasses
import hashlib
import json
import os
import pathlib
from collections.abc import Mapping

from placer.core import errors

SCHEMA = 1


@dataclasses.dataclass(frozen=True)
class Placement:
  """Where each op runs; see the module docstring."""

  devices: Mapping[str, str]
  graph_fingerprint: str = ''
  devices_spec: str = ''

  @property
  def digest(self) -> str:
    """A hash that is equal exactly for equal assignments."""
    text = json.dumps(sorted(self.devices.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]

  def counts(self) -> dict[str, int]:
    """The number of ops on each device, by device name."""
    return dict(sorted(collections.Counter(self.devices.values()).items()))

  def save(self, path: str | os.PathLike[str]) -> None:
    """Writes the JSON file; an older file is replaced in one step."""
    path = pathlib.Path(path)
    payload = {
      'schema': SCHEMA,
      'graph_fingerprint': self.graph_fingerprint,
      'devices_spec': self.devices_spec,
      'devices': dict(self.devices),
    }
    partial = path.with_name(path.name + '.partial')
    partial.write_text(json.dumps(payload, indent=1) + '\n')
    partial.replace(path)


def load(path: str | os.PathLike[str]) -> Placement:
  """Reads a Placement that `Placement.save` wrote.

  Args:
    path: a `placement.json`.

  Returns:
    The Placement.

  Raises:
    UsageError: no such file, not JSON, another schema, or not the right keys.
  """
  try:
    payload = json.loads(pathlib.Path(path).read_text())
  except OSError as error:
    raise errors.UsageError(
      f'Cannot read the placement file {str(path)!r}: {error.strerror}.'
    ) from error
  except ValueError as error:
    raise errors.UsageError(
      f'{str(path)!r} is not a placement file: it is not JSON ({error}). '
      'Pass a placement.json that `placer place` wrote.'
    ) from error
  if not isinstance(payload, dict) or payload.get('schema') != SCHEMA:
    found = payload.get('schema') if isinstance(payload, dict) else payload
    raise errors.UsageError(
      f'{str(path)!r} has placement schema {str(found)[:80]!r}; this placer '
      f'reads schema {SCHEMA}.'
    )
  devices = payload.get('devices')
  if not isinstance(devices, dict) or not all(
    isinstance(device, str) for device in devices.values()
  ):
    raise errors.UsageError(
      f'{str(path)!r} needs a key "devices" that maps op names to device names.'
    )
  return Placement(
    devices,
    graph_fingerprint=str(payload.get('graph_fingerprint', '')),
    devices_spec=str(payload.get('devices_spec', '')),
  )
