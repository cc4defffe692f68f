"""Fits seconds = latency + bytes / bandwidth to a link's samples.

A least-squares fit of the *relative* errors: the samples span 4 B to 64 MiB,
and an absolute fit would see the largest one only.
"""

from collections.abc import Sequence

import numpy as np

from placer.core import device as device_lib

_LEAST_LATENCY_SECONDS = 1e-6
_MOST_BYTES_PER_SECOND = 1e13


def fit(
  source: int,
  target: int,
  samples: Sequence[tuple[int, float]],
  load: tuple[float, float] = (0.0, 0.0),
) -> device_lib.Link:
  """Fits one link.

  Args:
    source: index of the device the tensors leave.
    target: index of the device they go to.
    samples: (bytes, seconds), at least one, seconds > 0.
    load: seconds a message and seconds a byte that it keeps each end busy.

  Returns:
    The link, its samples kept; latency at least a microsecond, bandwidth at
    most 10 TB/s.
  """
  size, seconds = np.asarray(samples, np.float64).T
  columns = np.stack([np.ones_like(size), size], axis=1) / seconds[:, None]
  (latency, per_byte), *_ = np.linalg.lstsq(
    columns, np.ones_like(seconds), rcond=None
  )
  if latency < _LEAST_LATENCY_SECONDS:
    # Not physical: keep the bandwidth that is left over the smallest sample.
    latency = max(float(seconds.min()), _LEAST_LATENCY_SECONDS)
    largest = size.argmax()
    per_byte = (seconds[largest] - latency) / max(size[largest], 1.0)
  per_byte = max(per_byte, 1 / _MOST_BYTES_PER_SECOND)
  return device_lib.Link(
    source,
    target,
    latency_seconds=float(latency),
    bytes_per_second=float(1 / per_byte),
    samples=tuple((int(b), float(s)) for b, s in samples),
    load_seconds=load[0],
    load_seconds_per_byte=load[1],
  )
