"""Measured links, kept between runs.

One JSON file a topology, 'links-<fingerprint>.json', in `$PLACER_CACHE_DIR`,
else `$XDG_CACHE_HOME/placer`, else `~/.cache/placer`. A folder that cannot be
written only means that links are measured again.

    {"schema": 1, "links": [[source, target, latency_seconds,
                             bytes_per_second, [[bytes, seconds], …]], …]}
"""

import json
import os
import pathlib

from placer.core import device as device_lib

_SCHEMA = 1


def folder() -> pathlib.Path:
  """The cache folder; need not exist."""
  own = os.environ.get('PLACER_CACHE_DIR')
  if own:
    return pathlib.Path(own)
  base = os.environ.get('XDG_CACHE_HOME')
  return (pathlib.Path(base) if base else pathlib.Path('~/.cache')) / 'placer'


def load(
  topology: device_lib.DeviceTopology,
) -> tuple[device_lib.Link, ...] | None:
  """The links of a topology, or None if they are not in the cache.

  Args:
    topology: its fingerprint names the file.

  Returns:
    The links, or None; a file that makes no sense counts as none.
  """
  try:
    payload = json.loads(_path(topology).read_text())
    if payload['schema'] != _SCHEMA:
      return None
    return tuple(
      device_lib.Link(
        source,
        target,
        latency,
        bandwidth,
        tuple((size, seconds) for size, seconds in samples),
      )
      for source, target, latency, bandwidth, samples in payload['links']
    )
  except (OSError, ValueError, KeyError, TypeError, RuntimeError):
    return None


def save(
  topology: device_lib.DeviceTopology, links: tuple[device_lib.Link, ...]
) -> None:
  """Keeps the links of a topology, if the cache folder can be written.

  Args:
    topology: its fingerprint names the file.
    links: what to keep.
  """
  payload = {
    'schema': _SCHEMA,
    'links': [
      [
        link.source,
        link.target,
        link.latency_seconds,
        link.bytes_per_second,
        link.samples,
      ]
      for link in links
    ],
  }
  try:
    path = _path(topology)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f'{path.name}.{os.getpid()}')
    partial.write_text(json.dumps(payload))
    partial.replace(path)
  except (OSError, RuntimeError):
    pass  # measured again next time


def _path(topology: device_lib.DeviceTopology) -> pathlib.Path:
  return folder().expanduser() / f'links-{topology.fingerprint}.json'
