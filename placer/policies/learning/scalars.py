"""TensorBoard scalars, also where the package tensorboard is not installed.

`tf.summary.scalar` needs that package; an event file is records of the proto
Event, and TensorFlow has both. Every opening starts a file of its own in the
folder, as TensorBoard expects of a run that goes on.
"""

import os
import pathlib
import socket
import time
from collections.abc import Mapping

import tensorflow as tf
from tensorflow.core.framework import summary_pb2
from tensorflow.core.util import event_pb2


class ScalarWriter:
  """Writes scalars; a context manager."""

  def __init__(self, folder: str | os.PathLike[str]) -> None:
    """Opens a new event file.

    Args:
      folder: 'events'; made if it is not there.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = (
      f'events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.'
      f'{os.getpid()}'
    )
    self._writer = tf.io.TFRecordWriter(str(folder / name))
    self._write(event_pb2.Event(file_version='brain.Event:2'))

  def write(self, step: int, values: Mapping[str, float]) -> None:
    """Writes one step; it is in the file when this returns.

    Args:
      step: of all the values.
      values: by tag, 'train/reward'.
    """
    summary = summary_pb2.Summary(
      value=[
        summary_pb2.Summary.Value(tag=tag, simple_value=value)
        for tag, value in values.items()
      ]
    )
    self._write(event_pb2.Event(step=step, summary=summary))

  def close(self) -> None:
    """Closes the file; safe to call twice."""
    self._writer.close()

  def __enter__(self) -> 'ScalarWriter':
    return self

  def __exit__(self, *unused_error: object) -> None:
    self.close()

  def _write(self, event: event_pb2.Event) -> None:
    event.wall_time = time.time()
    self._writer.write(event.SerializeToString())
    self._writer.flush()
