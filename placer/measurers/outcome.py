"""Outcome: from what a lane reported to a Measurement."""

import dataclasses
from collections.abc import Iterable
from typing import Any

from placer.core import device as device_lib
from placer.core import measurement as measurement_lib
from placer.core import program as program_lib
from placer.measurers import failure as failure_lib
from placer.measurers import partitions


def ran(
  program: program_lib.Program,
  topology: device_lib.DeviceTopology,
  measurement: measurement_lib.Measurement,
  read_back: partitions.ReadBack,
) -> measurement_lib.Measurement:
  """Adds what was read back to a Measurement.

  Args:
    program: translates working names to op paths.
    topology: its devices' memory limits are checked, for those that the
      runtime does not enforce.
    measurement: status OK, with times.
    read_back: of the same placement.

  Returns:
    The whole Measurement; over a memory limit its status is out_of_memory.
  """
  path = program.path
  peaks = read_back.peak_memory_bytes
  details = dict(measurement.details)
  details['peak_memory_source'] = read_back.peak_memory_source
  for device in topology.devices:
    limit, peak = device.memory_bytes, peaks.get(device.name, 0)
    if limit is not None and peak > limit:
      return measurement_lib.Measurement(
        measurement_lib.Status.OUT_OF_MEMORY,
        f'A step took {peak} bytes on {device.name}; its limit is {limit} '
        f'(found by {read_back.peak_memory_source}; the runtime did not '
        'stop it).',
        peak_memory_bytes=peaks,
        details=details | {'device': device.name},
      )
  return dataclasses.replace(
    measurement,
    peak_memory_bytes=peaks,
    actual_devices={
      path(name): device for name, device in read_back.actual_devices.items()
    },
    removed_ops=read_back.removed_ops,
    moved_ops=tuple(path(name) for name in read_back.moved_ops),
    partition_hash=read_back.partition_hash,
    details=details,
  )


def failed(
  failure: failure_lib.Failure,
  program: program_lib.Program,
  op_paths: Iterable[str] = (),
) -> measurement_lib.Measurement:
  """The Measurement of a placement that did not run.

  Args:
    failure: why.
    program: translates the name of the op at fault to its op path.
    op_paths: the ops that were placed; an op in a body, whose name TensorFlow
      changed ('loop/body/_3/add'), is found among them.

  Returns:
    A Measurement with the failure's status.
  """
  details: dict[str, Any] = dict(failure.details)
  if 'op' in details:
    details['op'] = _path(details['op'], program, op_paths)
  return measurement_lib.Measurement(
    failure.status, failure.reason, details=details
  )


def _path(
  op: str, program: program_lib.Program, op_paths: Iterable[str]
) -> str:
  plain = partitions.without_numbers(op)
  in_bodies = (path for path in op_paths if '@' in path)
  for path in in_bodies:
    if partitions.lowered_name(program.working_name(path)) == plain:
      return path
  return program.path(op)
