"""Failure: why a placement did not run, from TensorFlow's own words.

TensorFlow reports the same fault with different error classes from a session
in the process and from one over gRPC, so the text counts as much as the
class. `classify` is pure: (class name, text) -> Failure.
"""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from placer.core import measurement as measurement_lib

_Status = measurement_lib.Status
_NODE = re.compile(r'\{\{(?:function_)?node ([^}\s]+)\}\}')
_NODE_PLAIN = re.compile(r"(?:[Nn]ode:?|operation) '?([A-Za-z0-9.][\w./\\-]*)")
_DEVICE = re.compile(r'(/job:\w+/replica:\d+/task:\d+/device:\w+:\d+)')
_OOM_DEVICE = re.compile(r' on (/job:\S+/device:\w+:\d+) by allocator')
_NO_KERNEL = re.compile(
  r'No (?:registered \S+ )?OpKernel'
  r'|[Nn]o (?:supported )?kernel'
  r'|N(?:HWC|CHW|DHWC|CDHW)\b'
  r'|not (?:yet )?(?:supported|implemented)'
  r'|Op type not registered'
)
_PLACEMENT = re.compile(
  r'Cannot assign a device for operation'
  r'|Cannot colocate nodes'
  r'|Cannot place the graph'
  r'|unknown device'
  r'|specification refers to'
)
_PREFACE = re.compile(
  r'^(?:Graph execution error:\s*)?'
  r'(?:(?:Detected at node |Node: )[^\n]*\n|\s+File[^\n]*\n)*'
)
_REASON_CHARACTERS = 600


@dataclasses.dataclass(frozen=True)
class Failure:
  """Why a placement did not run.

  Attributes:
    status: never OK.
    reason: a sentence or a few.
    details: 'op' (working name of the op at fault) and 'device' where known.
  """

  status: measurement_lib.Status
  reason: str
  details: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def classify(error: BaseException, *, remote: bool) -> Failure:
  """What an error of TensorFlow's means for a placement.

  Args:
    error: raised by an import or a step.
    remote: whether the session's devices are other processes.

  Returns:
    The Failure.
  """
  kind, text = type(error).__name__, _own_words(error)
  details: dict[str, Any] = {}
  node = _NODE.search(text) or _NODE_PLAIN.search(text)
  if node:
    details['op'] = node.group(1)
  device = _OOM_DEVICE.search(text) or _DEVICE.search(text)
  if device:
    details['device'] = device.group(1)
  status = _status(kind, text, remote)
  if status is _Status.OUT_OF_MEMORY:
    where = details.get('device', 'a device that TensorFlow does not name')
    text = f'Out of memory on {where}: {text}'
  else:
    text = f'{kind}: {text}'
  return Failure(status, text[:_REASON_CHARACTERS], details)


def _status(kind: str, text: str, remote: bool) -> measurement_lib.Status:
  if kind == 'ResourceExhaustedError' or kind == 'MemoryError':
    return _Status.OUT_OF_MEMORY
  if kind == 'DeadlineExceededError':
    return _Status.TIMEOUT
  if remote and kind in ('UnavailableError', 'AbortedError'):
    return _Status.DEVICE_LOST
  if _NO_KERNEL.search(text) or kind == 'UnimplementedError':
    return _Status.UNSUPPORTED_OP
  if _PLACEMENT.search(text) or kind == 'PlacerError':
    return _Status.INVALID_PLACEMENT
  # What is left is the graph's own fault under any placement: an index out
  # of range, a missing file. The run failed, so it is named a crash.
  return _Status.CRASHED


def _own_words(error: BaseException) -> str:
  """The message without Python's additions: stack traces, hints."""
  text = str(getattr(error, 'message', '') or error)
  for mark in (
    '\nHint: If you want',
    '\n\nOriginal stack',
    '\n\nErrors may',
    '\nAdditional GRPC error',
    '\nRecent warning and error logs',
    ' [type.googleapis.com',
  ):
    text = text.split(mark)[0]
  text = _PREFACE.sub('', text)
  return re.sub(r'\s*\n\s*', ' ', text).strip()
