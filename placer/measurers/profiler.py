"""Profiles a program on each kind of device, once."""

from absl import logging

from placer.core import device as device_lib
from placer.core import placement_problem
from placer.core import step_profile
from placer.devices import alike as alike_lib
from placer.measurers import lane_pool
from placer.measurers import profile_cache
from placer.measurers.processes import lane as lane_lib


def profile(
  lanes: lane_pool.LanePool,
  problem: placement_problem.PlacementProblem,
  topology: device_lib.DeviceTopology,
  program_key: str,
  *,
  seconds: float,
  use_cache: bool,
) -> dict[int, step_profile.StepProfile]:
  """Profiles the program of some lanes on each kind of device.

  Args:
    lanes: run it.
    problem: N ops on D devices.
    topology: the D devices.
    program_key: equal for programs and inputs that are equal.
    seconds: of steps on each kind of device.
    use_cache: whether to take profiles from `profile_cache` if they are there.

  Returns:
    {device: StepProfile}; devices on which the program does not run (it does
    not fit, a kernel is missing) are not in it, nor are devices that share
    their cores.
  """
  if not topology.timing_is_meaningful:
    return {}
  found: dict[int, step_profile.StepProfile] = {}
  for alike in alike_lib.classes(topology):
    key = '\n'.join((program_key, problem.graph.fingerprint, alike.key))
    known = profile_cache.load(key) if use_cache else None
    if known is None:
      try:
        known = lanes.profile(problem, alike, seconds)
      except lane_lib.FailedError as error:
        logging.info('No profile on %s: %s', alike.key, error)
        continue
      profile_cache.save(key, known)
    found |= dict.fromkeys(alike.devices, known)
  return found
