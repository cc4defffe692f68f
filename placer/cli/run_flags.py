"""The flags that say where and how a graph is run; shared by commands."""

import hashlib

from absl import flags

from placer.cli import paths
from placer.core import device as device_lib
from placer.core import errors
from placer.devices import memory_limit
from placer.devices import target
from placer.measurers import session_options
from placer.problems import build


def define(values: flags.FlagValues) -> None:
  """Defines the flags in `values`."""
  _define_problem(values)
  _define_inputs(values)
  _define_limits(values)


def _define_problem(values: flags.FlagValues) -> None:
  flags.DEFINE_string(
    'devices',
    'auto',
    'auto: the GPUs and the CPU that TensorFlow sees. local:N: N worker '
    'processes on disjoint cores, standing for N sockets or hosts. '
    'logical:N: N logical CPUs of one process, for correctness only. '
    'simulated:k80x4: four K80 GPUs that need not exist; nothing is run and '
    'times are predicted. Or names: CPU:0,GPU:0.',
    flag_values=values,
  )
  flags.DEFINE_string(
    'memory_limit',
    '',
    'What placements may use of a device: 2GiB for each, or '
    'CPU:0=2GiB,GPU:0=8GiB.',
    flag_values=values,
  )
  flags.DEFINE_integer(
    'max_groups',
    build.DEFAULT_MAX_GROUPS,
    'Groups of ops to decide on.',
    lower_bound=1,
    flag_values=values,
  )


def _define_inputs(values: flags.FlagValues) -> None:
  flags.DEFINE_integer(
    'steps',
    None,
    'Timed steps of a trial, each paired with one of the reference. Default: '
    'by how long a step takes.',
    lower_bound=1,
    flag_values=values,
  )
  flags.DEFINE_integer(
    'seed',
    0,
    'Seeds inputs, policies and intervals.',
    lower_bound=0,
    flag_values=values,
  )
  flags.DEFINE_string(
    'feeds_file',
    '',
    '.npz with the values of the feeds, by name. Default: made from the seed, '
    'by type and shape.',
    flag_values=values,
  )
  flags.DEFINE_list(
    'allow_side_effects',
    [],
    'Ops that reach outside the process (files, Python, sockets) and may run '
    'nevertheless; * for all. `placer inspect` lists them.',
    flag_values=values,
  )


def _define_limits(values: flags.FlagValues) -> None:
  flags.DEFINE_boolean(
    'allow_exposed_workers',
    False,
    'Run local workers also where the kernel forbids network namespaces. They '
    'then obey anyone who reaches this host.',
    flag_values=values,
  )
  flags.DEFINE_float(
    'step_timeout_seconds',
    60.0,
    'A step that takes longer is a failed trial.',
    lower_bound=0.1,
    flag_values=values,
  )
  flags.DEFINE_float(
    'setup_timeout_seconds',
    300.0,
    'Import, initial values and first step may take so long.',
    lower_bound=1.0,
    flag_values=values,
  )


def topology(values: flags.FlagValues) -> device_lib.DeviceTopology:
  """The devices that the flags name; at least two.

  Args:
    values: parsed flags of `define`.

  Returns:
    The DeviceTopology, links not measured.

  Raises:
    UsageError: no such devices, or just one, so that there is nothing to
      place.
  """
  return limited(target.resolve(values.devices), values)


def limited(
  found: device_lib.DeviceTopology, values: flags.FlagValues
) -> device_lib.DeviceTopology:
  """The topology with the memory limits of the flags; at least two devices.

  Args:
    found: any topology.
    values: parsed flags of `define`.

  Returns:
    The topology with limits.

  Raises:
    UsageError: --memory_limit makes no sense, or there is one device only.
  """
  found = memory_limit.apply(found, values.memory_limit)
  if sentence := target.nothing_to_place(found):
    raise errors.UsageError(sentence)
  return found


def session_options_of(
  values: flags.FlagValues, work_dir: str
) -> session_options.SessionOptions:
  """How to measure, from the flags.

  Args:
    values: parsed flags of `define`.
    work_dir: folder for logs of the workers; '' for a temporary one.

  Returns:
    The SessionOptions.
  """
  feeds_file = values.feeds_file
  return session_options.SessionOptions(
    step_timeout_seconds=values.step_timeout_seconds,
    setup_timeout_seconds=values.setup_timeout_seconds,
    allow_side_effects=tuple(values.allow_side_effects),
    feeds_file=paths.user_path(feeds_file) if feeds_file else '',
    seed=values.seed,
    work_dir=work_dir,
    allow_exposed_workers=values.allow_exposed_workers,
  )


def feeds_digest(values: flags.FlagValues) -> str:
  """A hash of what decides the values of the feeds: the file, or the seed.

  Args:
    values: parsed flags of `define`.

  Returns:
    A short text.

  Raises:
    UsageError: the file cannot be read.
  """
  if not values.feeds_file:
    return f'seed{values.seed}'
  try:
    with open(paths.user_path(values.feeds_file), 'rb') as file:
      return hashlib.file_digest(file, 'sha256').hexdigest()[:16]
  except OSError as error:
    raise errors.UsageError(
      f'--feeds_file={values.feeds_file} cannot be read: {error.strerror}.'
    ) from error
