"""Measured links, kept between runs.

One JSON file a topology, '<fingerprint>.json', in the folder 'links' of
`cache_folder`. A file that cannot be written only means that links are measured
again.

    {"schema": 6, "links": [[source, target, latency_seconds,
                             bytes_per_second, [[bytes, seconds], …],
                             load_seconds, load_seconds_per_byte], …]}
"""

import json
import os
import pathlib

from placer.core import cache_folder
from placer.core import device as device_lib

_SCHEMA = 6


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
        *load,
      )
      for source, target, latency, bandwidth, samples, *load in payload['links']
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
        link.load_seconds,
        link.load_seconds_per_byte,
      ]
      for link in links
    ],
  }
  try:
    path = _path(topology)
    partial = path.with_name(f'{path.name}.{os.getpid()}')
    partial.write_text(json.dumps(payload))
    partial.replace(path)
  except (OSError, RuntimeError):
    pass  # measured again next time


def _path(topology: device_lib.DeviceTopology) -> pathlib.Path:
  return cache_folder.find('links') / f'{topology.fingerprint}.json'
